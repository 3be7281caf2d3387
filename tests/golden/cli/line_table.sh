# -g: lines of the machine code, through every call, as the assembler's table
# has them.
command -v "${CUTEJIT_PTXAS:-ptxas}" >/dev/null ||
    [ -x "${CUDA_HOME:-/usr/local/cuda}/bin/ptxas" ] || exit 77
python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' || exit 77

cat > half.cute <<'END'
fn halved(v) {
    return v / 2;
}
END
cat > k.cute <<'END'
import "half.cute" as half;
fn twice(v) {
    return v +
        v * 3.5;
}
fn put(x, i) {
    x[i] = twice(x[i] - 7.0);
}
kernel k(x: tensor(f32, N))
{
    launch grid(1) block(32)
    {
        put(x, thread_idx.x);
        const for j in 0..2 {
            x[thread_idx.x + 32 * j] =
                half.halved(twice(x[thread_idx.x + 64]));
        }
    }
}
END
for level in 1 3; do
	echo "-O$level"
	"$CUTEC" compile k.cute --arch=sm_90a -g -O$level --emit=cubin=k.cubin &&
	    python3 "$CASE_DIR/line_table.py" k.cubin
done
# the names that PTX cannot write
cp k.cute 'a "b\.cute'
"$CUTEC" compile 'a "b\.cute' --arch=sm_90a -g --emit=cubin=k.cubin &&
    python3 "$CASE_DIR/line_table.py" k.cubin | grep -c 'a _b_.cute'
cp k.cute 'é.cute'
"$CUTEC" compile 'é.cute' --arch=sm_90a -g --emit=cubin=k.cubin &&
    python3 "$CASE_DIR/line_table.py" k.cubin | grep -c '__.cute'
# without -g there is none
"$CUTEC" compile k.cute --arch=sm_90a --emit=ptx=- >k.ptx && ! grep "\.loc" k.ptx
