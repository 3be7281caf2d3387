# What the system refuses is said, and no fault of the compiler: files that may
# not grow, an assembler that is killed, ends silently or cannot be started.
cat > k.cute <<'END'
kernel k(x: tensor(f32, N)) { launch grid(1) block(32) { x[thread_idx.x] = 1; } }
END
(ulimit -f 0; CUTEJIT_CACHE=off "$CUTEC" compile k.cute --arch=sm_90 --emit=ptx=k.ptx; echo "status $?") 2>&1 | cat
ls
for end in 'kill -9 $$' 'exit 3'
do
	printf '#!/bin/sh\ncase $* in *--version*) echo "release 13.0, V13.0.1"; exit 0 ;; esac\n%s\n' "$end" > ptxas
	chmod +x ptxas
	CUTEJIT_CACHE=off CUTEJIT_ASSEMBLER=ptxas CUTEJIT_PTXAS=$PWD/ptxas TMPDIR=$PWD \
	    "$CUTEC" compile k.cute --arch=sm_90 --emit=cubin=k.cubin 2>&1 | sed "s|$PWD/||; s/report-.*/report/"
done
grep '^fault' cutejit-report-*
# A chain of arms is no nesting: it takes no stack, however long it is.
{
	printf 'kernel k(y: tensor(i32, N), a: i32)\n{\n    launch grid(1) '
	printf 'block(32) {\n        if a == 0 { y[0] = 0; }\n'
	seq 1 5000 | sed 's/.*/        else if a == & { y[0] = &; }/'
	printf '    }\n}\n'
} > arms.cute
small=512
test "${SANITIZERS:-no}" = no || small=8192
(ulimit -s $small; "$CUTEC" compile arms.cute --emit=ir=arms.ir)
echo "5000 arms: status $?, $(grep -c 'store' arms.ir) stores"
