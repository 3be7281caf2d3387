# What is compiled, and how its files are called.
cat > k.cute <<'END'
kernel k(const b in {2, 4}, const s in 1..3, const t = 3, x: tensor(f32, N))
{
    launch grid(1) block(32) { x[thread_idx.x] = b * s * t; }
}
kernel k(const b in {2}, const pair in {(1, 2), (3, 4)}, x: tensor(f16, N))
{
    launch grid(1) block(32) { x[thread_idx.x] = b * pair[1]; }
}
END
try() { echo "\$ cutec compile $*"; "$CUTEC" compile "$@"; ls | grep -v k.cute; find . -type f ! -name k.cute -delete; }
try k.cute
try k.cute -k 'k[0]' -D b=4
try k.cute -k 'k[0]' -D b=4 -D s=1
try k.cute -k 'k[0]' -D b=4 -D s=1 -o x.ptx
try k.cute -D b=2 -D s=1 -o x.ptx
try k.cute -D b=2 -D s=1 -o x.ptx --emit=ptx,ir
try k.cute -D b=2 -D s=1 --emit=ptx=x.ptx
try k.cute -k 'k[0]' -D b=3 -D s=1
