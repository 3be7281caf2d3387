# A kernel of an imported text is no kernel of this one; its functions are.
cat > lib.cute <<'END'
fn more(x) => x + 1;
kernel inc(x: tensor(f32, N)) { launch grid(1) block(64) { x[thread_idx.x] += 1; } }
END
cat > main.cute <<'END'
import "lib.cute";
kernel own(x: tensor(f32, N)) { launch grid(1) block(64) { x[thread_idx.x] = more(x[thread_idx.x]); } }
test "own" { let x = zeros(f32, 64); launch own(x); expect(x == 1); }
test "imported" { let x = zeros(f32, 64); launch inc(x); expect(x == 1); }
END
"$CUTEC" test --device=cpu main.cute 2>&1 | sed 's/, [0-9.]* ms//'
true
