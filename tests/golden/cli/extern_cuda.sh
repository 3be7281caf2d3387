# CUDA C++ in the program, by NVRTC where it is.
cat > c.cute <<'END'
extern fn saturate(x: f32) -> f32 => clamp(x, 0, 1);
extern fn mix(a: f16, n: i16, u: u64, b: bool, d: f64) -> f16 =>
    f16(f32(a) + f32(n) + f32(u) + f32(d) + (if b { f32(1) } else { f32(0) }));
extern fn odd(x: i32) -> bool => x % 2 == 1;
extern fn noted(x: i32) { }
extern cuda {
    #include <cuda_fp16.h>
    // "}" in a comment, '}' and "}" do not end the block
    __device__ float saturate(float x) { return __saturatef(x); }
    __device__ __half mix(__half a, short n, unsigned long long u, bool b,
        double d)
    {
        return __float2half(__half2float(a) + n + u + d + (b ? 1 : 0));
    }
    __device__ bool odd(int x) { return x & 1; }
    __device__ int seen;
    __device__ void noted(int x) { atomicAdd(&seen, x); }
}
kernel k(x: tensor(f32, N), h: tensor(f16, N), o: tensor(i32, N))
{
    launch grid(1) block(32)
    {
        let i = thread_idx.x;
        x[i] = saturate(x[i]);
        h[i] = mix(h[i], i16(i), u64(i), i < 3, 0.5);
        if odd(i32(i)) { o[i] = 7; noted(i32(i)); }
    }
}
kernel plain(x: tensor(f32, N))
{
    launch grid(1) block(32) { x[thread_idx.x] = 1; }
}
test "on the executor" {
    let x = normal(f32, 32:1, seed = 1);
    let h = full(f16, 32:1, 1);
    let o = zeros(i32, 32:1);
    let z = empty(f32, 32:1);
    z = x;
    launch k(x, h, o);
    expect(x == clamp(z, 0, 1));
    expect(h[2] == 6.5);
    expect(o[1] == 7);
    expect(o[2] == 0);
}
END
"$CUTEC" test --device=cpu c.cute | sed 's/, [0-9.]* ms//'
# without NVRTC: an error for the kernel that needs it alone
CUTEJIT_NVRTC=/nowhere "$CUTEC" compile -k k --emit=ptx=/dev/null c.cute
CUTEJIT_NVRTC=/nowhere "$CUTEC" compile -k plain --emit=ptx=/dev/null c.cute
echo "plain: status $?"
CUTEJIT_NVRTC=/nowhere "$CUTEC" test --device=cpu c.cute | tail -n 1
"$CUTEC" compile -k k --emit=ptx=/dev/null c.cute 2>/dev/null || exit 77
for target in sm_80 sm_90a; do
	"$CUTEC" compile --arch=$target -k k --emit=ptx=c.ptx c.cute
	echo "$target: definitions $(grep -c '^\.func.* cjx_' c.ptx)"
	"${CUTEJIT_PTXAS:-ptxas}" --version >/dev/null 2>&1 &&
	    "$CUTEC" compile --arch=$target -k k --emit=cubin=c.cubin c.cute
done
try() { sed "$1" c.cute > d.cute; "$CUTEC" compile -k k --emit=ptx=/dev/null d.cute 2>&1 | sed 's/NVRTC [0-9.]*/NVRTC/'; }
try 's/return x & 1;/return y;/'
try 's/float saturate(float x)/double saturate(double x)/'
try '/bool odd(int/d'
true
