# Values that registers do not hold: every assembler's word reaches the user, out
# of the cache too. The assembler is a stand-in, so that its numbers are known.
cat > ptxas <<'END'
#!/bin/sh
case $* in *--version*) echo "release 13.0, V13.0.1"; exit 0 ;; esac
echo run >> runs
ptx=$(cat)
while [ $# -gt 0 ]; do [ "$1" = -o ] && out=$2; shift; done
for name in $(printf '%s\n' "$ptx" | sed -n 's/^\.visible \.entry \([a-z_0-9]*\)(.*/\1/p'); do
	spill=0
	[ "$name" != many ] || spill=$SPILL
	echo "ptxas info    : Function properties for $name" >&2
	echo "    $spill bytes stack frame, $spill bytes spill stores, $spill bytes spill loads" >&2
done
cat elf > "$out"
END
chmod +x ptxas
cp /bin/sh elf
export CUTEJIT_PTXAS=$PWD/ptxas CUTEJIT_ASSEMBLER=ptxas CUTEJIT_CACHE_DIR=$PWD/cache SPILL=72
cat > k.cute <<'END'
kernel many(x: tensor(f32, N))
{
    launch grid(1) block(512) min_blocks(2) { x[thread_idx.x] = 1; }
}
kernel few(x: tensor(f32, N))
{
    launch grid(1) block(32) { x[thread_idx.x] = 2; }
}
kernel twice(x: tensor(f32, N))
{
    launch grid(1) block(32) { x[thread_idx.x] = 3; }
    launch grid(1) block(64) { x[thread_idx.x] = 4; }
}
END
compile() { "$CUTEC" compile --arch=sm_90a --emit=cubin=k.cubin "$@" k.cute 2>&1; echo "status $?"; }
echo "== made, then found on disk: told both times, assembled once"
compile -k many
compile -k many
wc -l < runs
echo "== nothing to tell"
compile -k few
compile -k twice
echo "== PTX alone asks no assembler"
"$CUTEC" compile --arch=sm_90a -k many --emit=ptx=/dev/null k.cute
echo "== as an error, silenced, allowed where it stands"
compile -k many -Werror=spill
compile -k many -Wno-spill
compile -k many -Werror
sed 's,^    launch grid(1) block(512),    // allow spill: it is measured\n&,' k.cute > a.cute
"$CUTEC" compile --arch=sm_90a -k many --emit=cubin=k.cubin -Werror=spill a.cute
echo "status $?"
echo "== it counts as a warning of the kernel with others"
cat > w.cute <<'END'
kernel many(x: tensor(f32, N))
{
    launch grid(1) block(32) max_registers(24)
    {
        let t = (1);
        var unused = 3;
        x[thread_idx.x] = 1;
    }
}
END
"$CUTEC" compile --arch=sm_90a -Wunused --emit=cubin=w.cubin w.cute 2>&1
"$CUTEC" compile --arch=sm_90a --emit=cubin=w.cubin --report=json w.cute 2>/dev/null | grep spill_bytes
echo "== 256 threads may have all registers that there are, 288 may not"
for n in 256 288
do
	cat > n.cute <<END
kernel many(x: tensor(f32, N))
{
    launch grid(1) block($n) { x[thread_idx.x] = 1; }
}
END
	"$CUTEC" compile --arch=sm_90a -k many --emit=cubin=k.cubin n.cute 2>&1 |
	    grep '^help'
done
echo "== who holds them, the largest first"
cat > h.cute <<'END'
kernel many(x: tensor(f32, N:1), y: tensor(f32, N:1))
{
    launch grid(1) block(128)
    {
        var few = zeros(f32, 7);
        var sums = zeros(f16, (4, 8));
        var next = zeros(f32, 24);
        for k in 0..N
        {
            const for i in 0..24 { next[i] = y[k * 24 + i]; }
            const for i in 0..7 { few[i] = few[i] + next[i]; }
            const for i in 0..4 { const for j in 0..8 { sums[i, j] = sums[i, j] + f16(next[i * 6] * x[j]); } }
        }
        const for i in 0..4 { const for j in 0..8 { y[i * 8 + j] = f32(sums[i, j]) + few[i]; } }
    }
}
END
"$CUTEC" compile --arch=sm_90a --emit=cubin=h.cubin h.cute 2>&1 | grep note
# a kernel that has more values than any registers, by a true assembler
unset CUTEJIT_PTXAS
export CUTEJIT_CACHE=off
ptxas --version >/dev/null 2>&1 || [ -x "${CUDA_HOME:-/usr/local/cuda}/bin/ptxas" ] || {
	echo "true: spills, with 255 registers"; exit 0; }
cat > t.cute <<'END'
kernel wide(x: tensor(f32, (M, 400):(_, 1)), y: tensor(f32, (M, 400):(_, 1)))
{
    launch grid(M) block(32)
    {
        let v = load(x[thread_idx.x, _]);
        y[thread_idx.x, _] = v / sum(v);
    }
}
END
"$CUTEC" compile --arch=sm_90a --emit=cubin=t.cubin t.cute 2>&1 |
    sed -n 's/.*has 255 registers and [1-9][0-9]* bytes of local memory, to which it spills [1-9][0-9]* \[spill\]$/true: spills, with 255 registers/p'
