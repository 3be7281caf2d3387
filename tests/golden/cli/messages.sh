# Messages and meanings that people missed elsewhere, a case each.
cat > d01.cute <<'END'
// d01: an unused layout made of a run-time value changes nothing above it.
kernel one(m: int, y: tensor(i32, N))
{
    let x = m;
    print("x", x);
    launch grid(1) block(1) { y[0] = i32(x); }
}
kernel two(m: int, y: tensor(i32, N))
{
    let x = m;
    print("x", x);
    let unused = (m, 4):(1, m);
    launch grid(1) block(1) { y[0] = i32(x); }
}
kernel three(const m = 5, y: tensor(i32, N))
{
    let x = m;
    print("x", x);
    let unused = (m, 4):(1, m);
    launch grid(1) block(1) { y[0] = i32(x); }
}
test "one" { let y = zeros(i32, 1); launch one(5, y); expect(y[0] == 5); }
test "two" { let y = zeros(i32, 1); launch two(5, y); expect(y[0] == 5); }
test "three" { let y = zeros(i32, 1); launch three(y); expect(y[0] == 5); }
END
cat > d03.cute <<'END'
kernel k(const arg = 3, t: i32, y: tensor(f32, N))
{
    launch grid(1) block(1)
    {
        if t == arg { y[0] = 1; } else { const if false { assert(false, "never"); } }
        if t == arg { y[1] = 1; } else { let a = 1; const if false { assert(false, "never"); } y[1] = f32(a); }
        let v = if arg == 3 { f32(1) } else { row_major(2, 2) };
        let g = fn(x) => if arg == 3 { x } else { "text" + x };
        y[2] = v + g(f32(1));
    }
}
test "dead arms" { let y = zeros(f32, 3); launch k(4, y); expect(y[0] == 0); expect(y[1] == 1); expect(y[2] == 2); }
END
cat > d06.cute <<'END'
kernel gemm(const stages = 4, x: tensor(f16, (M, K):(K, 1)) align(16), y: tensor(f16, (M, N):(N, 1)) align(16))
{
    launch grid(1) block(128)
    {
        shared a: tensor(f16, (128, 64, stages));
        shared b: tensor(f16, (128, 64, stages));
        let t = thread_idx.x;
        a[t, 0, 0] = x[t, 0];
        b[t, 0, 0] = x[t, 1];
        sync();
        y[t, 0] = a[127 - t, 0, 0] + b[127 - t, 0, 0];
    }
}
END
cat > d06p.cute <<'END'
kernel gemm(const stages = 4, x: tensor(f16, (M, K):(K, 1)) align(16), y: tensor(f16, (M, N):(N, 1)) align(16))
{
    launch grid(1) block(128)
    {
        pipeline ring(stages) {
            a: tensor(f16, (128, 64));
            b: tensor(f16, (128, 64));
        }
        let t = thread_idx.x;
        for k in 0..4 {
            produce ring as s { s.a[t, 0] = x[t, k]; s.b[t, 0] = x[t, k + 1]; }
            consume ring as s { y[t, k] = s.a[127 - t, 0] + s.b[127 - t, 0]; }
        }
    }
}
END
cat > d08.cute <<'END'
kernel w(x: tensor(bf16, (M, K):(K, 1)) align(16), c: tensor(f32, (M, N):(N, 1)))
{
    const mma = tiled_mma(wgmma(64, 64, 16, bf16, bf16, f32), (1, 1, 1));
    const la = smem_layout(bf16, (64, 64));
    launch grid(1) block(128)
    {
        shared a: tensor(bf16, la);
        shared b: tensor(bf16, la);
        let t = thread_idx.x;
        for i in 0..32 { a[t / 2, t % 2 * 32 + i] = 0; b[t / 2, t % 2 * 32 + i] = 0; }
        sync();
        var acc = fragment_c(mma, (64, 64), fill = 0);
        gemm(mma, a, b, acc);
        partition_c(mma, local_tile(c, (64, 64), (0, 0)), t) = acc;
    }
}
END
cat > d10.cute <<'END'
kernel k(h: tensor(f16, N), b: tensor(u8, N), u: tensor(u32, N), d: tensor(f64, N), o: tensor(f64, N), s: tensor(i32, N))
{
    launch grid(1) block(32)
    {
        let i = thread_idx.x;
        var v = h[i];
        for j in 0..3 { v = min(max(v, 0.0), 6.0); }
        h[i] = max(h[i], 0) + max(h[i], 0.0) + 1.0 + v;
        b[i] = b[i] << 2;
        u[i] = u[i] % 2 + (u[i] - 1);
        const S = 1.44269504;
        o[i] = if (d[i] + S) == (d[i] + 1.44269504) { d[i] + 2e50 } else { 0.0 };
    }
}
kernel wrong(s: tensor(i32, N)) { launch grid(1) block(1) { s[0] = s[0] * 3000000000; } }
END
test_it() { "$CUTEC" test --device=cpu "$1" | sed 's/, [0-9.]* ms//'; }
try() { echo "- $*"; "$CUTEC" compile --emit=ptx=/dev/null "$@" 2>&1 | cut -c1-200; }
# an unused layout of run-time values changes nothing; dead arms mean nothing
test_it d01.cute
test_it d03.cute
# too much shared memory: who has it, and what would fit
try --arch=sm_86 d06.cute
try --arch=sm_90a d06.cute
try --arch=sm_120a d06.cute
try --arch=sm_86 d06p.cute
# what the target lacks
for target in sm_80 sm_89 sm_90 sm_90a sm_100a sm_120a sm_77; do
	try --arch=$target d08.cute
done
# numbers take the type of the other operand
try -k k d10.cute
try -k wrong d10.cute
# deep and long texts
one='kernel k(n: i32, y: tensor(i32, N)) { launch grid(1) block(1) {'
awk -v one="$one" 'BEGIN { printf "%s if n == 0 { y[0] = 0; }", one
    for (i = 1; i < 1000; i++) printf " else if n == %d { y[0] = %d; }", i, i
    print " } }" }' > arms.cute
awk -v one="$one" 'BEGIN { printf "%s y[0] = ", one
    for (i = 0; i < 5000; i++) printf "("
    printf "n"; for (i = 0; i < 5000; i++) printf ")"
    print "; } }" }' > parentheses.cute
awk -v one="$one" 'BEGIN { printf "%s y[0] = n", one
    for (i = 0; i < 20000; i++) printf " + n"
    print "; } }" }' > terms.cute
awk -v one="$one" 'BEGIN { printf "/*"
    for (i = 0; i < 16384; i++) printf "%64s", "x"
    printf "*/ %s y[0] = n; } }\n", one }' > comment.cute
echo "$one const for i in 0..100001 { y[0] = 1; } } }" > unrolled.cute
awk -v one="$one" 'BEGIN { printf "%s y[0] = ", one
    for (i = 0; i < 400; i++) printf "-("
    printf "n"; for (i = 0; i < 400; i++) printf ")"
    print "; } }" }' > nested.cute
for f in arms parentheses terms comment unrolled nested; do
	echo "- $f"
	"$CUTEC" compile --emit=ir=/dev/null $f.cute 2>&1 | grep -v '^ ' |
	    cut -c1-100
done
true
