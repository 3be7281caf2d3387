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
