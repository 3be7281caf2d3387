# Functions of LLVM bitcode, in the program and on the executor.
for as in llvm-as-22 llvm-as; do
	"$as" --version >/dev/null 2>&1 && break
done
"$as" --version 2>/dev/null | grep -q 'version 2[2-9]' || exit 77
cat > f.ll <<'END'
target triple = "nvptx64-nvidia-cuda"
define float @scaled(float %x, i64 %n, i1 %neg) {
  %f = sitofp i64 %n to float
  %p = call float @inner(float %x, float %f)
  %m = fneg float %p
  %r = select i1 %neg, float %m, float %p
  ret float %r
}
define float @inner(float %x, float %y) {
  %r = fmul float %x, %y
  ret float %r
}
define half @twice(half %x) {
  %r = fadd half %x, %x
  ret half %r
}
define i32 @unused(i32 %x) {
  ret i32 %x
}
END
$as f.ll -o f.bc
sed 's/@inner(float %x, float %f)/@missing(float %x, float %f)/' f.ll > g.ll
echo 'declare float @missing(float, float)' >> g.ll
$as g.ll -o g.bc
sed 's/^target.*/target triple = "x86_64-linux-gnu"/' f.ll > h.ll
$as h.ll -o h.bc
echo 'no bitcode at all' > text.bc
cat > b.cute <<'END'
extern fn scaled(x: f32, n: i64, neg: bool) -> f32 =>
    if neg { -(x * f32(n)) } else { x * f32(n) };
extern fn twice(x: f16) -> f16 => x + x;
extern bitcode "f.bc";
kernel k(x: tensor(f32, N), h: tensor(f16, N))
{
    launch grid(1) block(32)
    {
        let i = thread_idx.x;
        x[i] = scaled(x[i], i64(i), i < 3);
        h[i] = twice(h[i]);
    }
}
test "scaled" {
    let x = full(f32, 32:1, 2);
    let h = full(f16, 32:1, 3);
    launch k(x, h);
    expect(x[1] == -2);
    expect(x[31] == 62);
    expect(h == 6);
}
END
"$CUTEC" test --device=cpu b.cute | sed 's/, [0-9.]* ms//'
for target in sm_80 sm_90a sm_100a; do
	"$CUTEC" compile --arch=$target --emit=ptx=b.ptx b.cute
	echo "$target: functions $(grep -c '^\.func\|cjx_[a-z]*(' b.ptx)," \
	    "unused $(grep -c unused b.ptx), calls $(grep -c 'call ' b.ptx)"
	"${CUTEJIT_PTXAS:-ptxas}" --version >/dev/null 2>&1 &&
	    "$CUTEC" compile --arch=$target --emit=cubin=b.cubin b.cute
done
try() { sed "$1" b.cute > c.cute; "$CUTEC" compile --emit=ptx=/dev/null c.cute 2>&1 | sed 's,LLVM [0-9.]*,LLVM,'; }
try 's/f.bc/g.bc/'
try 's/f.bc/h.bc/'
try 's/f.bc/text.bc/'
try 's/f.bc/none.bc/'
try 's/twice/thrice/'
try 's/n: i64/n: i32/;s/i64(i)/i32(i)/'
true
