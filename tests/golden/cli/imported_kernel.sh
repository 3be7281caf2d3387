# Kernels of imports are launched by the names that functions of them have:
# plain, behind the import's name, or not at all where two imports clash.
cat > lib.cute <<'EOF'
import "deep.cute";
const step = 1;
fn more(x) => x + step;
kernel inc(const T: type in {f32, f16} = f32, x: tensor(T, N))
where N % 64 == 0
{
    launch grid(N / 64) block(64) {
        let i = block_idx.x * 64 + thread_idx.x;
        x[i] = more(x[i]);
    }
}
kernel inc(const T: type in {f32, f16} = f32, x: tensor(T, N))
{
    launch grid(1) block(1) { for i in 0..N { x[i] = more(x[i]); } }
}
kernel own(x: tensor(f32, N)) { launch grid(1) block(64) { x[thread_idx.x] = 9; } }
EOF
cat > deep.cute <<'EOF'
kernel deep(x: tensor(f32, N)) { launch grid(1) block(1) { x[0] = 1; } }
EOF
cat > other.cute <<'EOF'
kernel twice(x: tensor(f32, N)) { launch grid(1) block(1) { for i in 0..N { x[i] *= 2; } } }
kernel inc(x: tensor(f32, N)) { launch grid(1) block(1) { for i in 0..N { x[i] += 10; } } }
EOF
cat > main.cute <<'EOF'
import "lib.cute";
import "other.cute" as other;
kernel own(x: tensor(f32, N)) { launch grid(1) block(64) { x[thread_idx.x] = more(x[thread_idx.x]); } }
test "own hides" { let x = zeros(f32, 64); launch own(x); expect(x == 1); }
test "imported" over T in {f32, f16}, n in {64, 65} {
    let x = zeros(T, n);
    launch inc(x);
    expect(x == 1);
    launch inc[1](x, T = T);
    expect(x == 2);
}
test "behind a name" { let x = full(f32, 64, 3); launch other.inc(x); launch other.twice[0](x); expect(x == 26); }
test "no member" { let x = zeros(f32, 64); launch inc[2](x); }
test "none there" { let x = zeros(f32, 64); launch other.twise(x); }
test "no import" { let x = zeros(f32, 64); launch x.inc(x); }
test "elsewhere" { let x = zeros(f32, 64); launch twice(x); }
test "not passed on" { let x = zeros(f32, 64); launch deep(x); }
test "contract" { let x = zeros(f64, 64); launch inc(x); }
test "argument" { let x = zeros(f32, 64); launch other.inc(y = x); }
bench "timed" { let x = zeros(f32, 64); time other.inc(x); }
EOF
cat > clash.cute <<'EOF'
import "lib.cute";
import "other.cute";
test "both" { let x = zeros(f32, 64); launch inc(x); }
test "one" { let x = full(f32, 64, 2); launch twice(x); expect(x == 4); }
EOF
cat > again.cute <<'EOF'
import "other.cute";
import "other.cute";
import "other.cute" as other;
test "one text" { let x = zeros(f32, 64); launch inc(x); launch other.inc(x); expect(x == 20); }
EOF
for file in main clash again
do
	"$CUTEC" test --device=cpu $file.cute 2>&1 | sed 's/, [0-9.]* ms//'
done
echo "run:"
"$CUTEC" run --device=cpu main.cute -k other.twice 'x=iota(f32, 4)' --print x |
    sed 's/: [0-9.]* ms//'
"$CUTEC" run --device=cpu main.cute -k inc 'x=iota(f32, 4)' --print x |
    sed 's/: [0-9.]* ms//'
"$CUTEC" run --device=cpu clash.cute 'x=iota(f32, 4)'
"$CUTEC" run --device=cpu clash.cute -k inc 'x=iota(f32, 4)'
"$CUTEC" run --device=cpu main.cute -k deep 'x=iota(f32, 4)'
echo "compile:"
"$CUTEC" compile main.cute --emit=ir=- | grep '^host'
"$CUTEC" compile main.cute -k other.inc --emit=ptx=- | grep entry
"$CUTEC" compile main.cute -k 'inc[1]' --emit=ptx=- | grep entry
"$CUTEC" compile main.cute -k inc -o inc.ptx --arch=sm_90 && ls
