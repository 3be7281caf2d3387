# A deadline ends the command, too, whatever LLVM is at: many times 2048 loads
# that lie apart keep it busy much longer than this test may take.
cat > slow.cute <<'EOF'
kernel slow(x: tensor(f32, N), y: tensor(f32, N))
{
    launch grid(1) block(32)
    {
        const for i in 0..32 {
            let a = load(local_tile(x, 2048, i)) * y[i];
            y[thread_idx.x + i] = sum(a * sum(a) + 1);
        }
    }
}
EOF
timeout 10 "$CUTEC" compile slow.cute --emit=ptx=slow.ptx --deadline=500
echo "status $?"
ls
# what a test does itself ends, too: loops, and arrays being filled
cat > loops.cute <<'EOF'
test "a loop" { var i = 0; while i >= 0 { i = (i + 3) % 1000000007; } }
test "an array" { let x = normal(f16, 400000000, seed = 1); }
EOF
timeout 30 "$CUTEC" test loops.cute --device=cpu --deadline=200 |
    sed 's/ (cpu.*//'
