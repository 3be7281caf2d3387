# What ptxas finds wrong in a program's own PTX comes back at its place.
command -v "${CUTEJIT_PTXAS:-ptxas}" >/dev/null ||
    [ -x "${CUDA_HOME:-/usr/local/cuda}/bin/ptxas" ] || exit 77
cat > own.cute <<'END'
kernel own(y: tensor(f32, 32:1))
{
    launch grid(1) block(32)
    {
        let a = y[thread_idx.x];
        y[thread_idx.x] = ptx("neg.f32 $0, $1;", f32, a) +
            ptx("mov.b32 $0, $1;\n"
                "bogus.f32 $0, $1;", f32, a);
    }
}
END
export CUTEJIT_CACHE=off CUTEJIT_ASSEMBLER=ptxas
"$CUTEC" compile --emit=cubin=own.cubin --arch=sm_90a own.cute 2>&1 |
    sed -e 's/ptxas [0-9.]*: .*; error/ptxas: error/'
