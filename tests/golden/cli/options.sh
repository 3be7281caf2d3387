# An option, or an argument, that is wrong is named, with what would be right.
cat > scale.cute <<'END'
kernel scale(const T: type in {f16, f32} = f32, x: tensor(T, N),
             y: tensor(T, N), b: f32 = 1)
{
    launch grid(ceil_div(N, 32)) block(32)
    {
        let i = block_idx.x * 32 + thread_idx.x;
        if i < N { y[i] = T(b * f32(x[i])); }
    }
}

test "t" { launch scale(iota(f32, 8:1), empty(f32, 8:1)); }
bench "b" { time scale(iota(f32, 8:1), empty(f32, 8:1)) bytes(64); }
END
try() { echo "\$ cutec $*"; "$CUTEC" "$@"; echo "status $?"; }
scale() { try run scale.cute --device=cpu 'x=iota(f32, 8:1)' "$@"; }
# what a command would not look at
try test scale.cute -D T=f16
try bench scale.cute -D T=nonsense
try tune scale.cute -g
try run scale.cute --filter=s
try bench scale.cute -k scale
try run scale.cute --device=both
# what has no value, one too many or a wrong one
try test --se scale.cute
try test scale.cute --seed
try test scale.cute -I
try test scale.cute --digests=3
try test --l scale.cute
try test -z scale.cute
try compile scale.cute -O9
try compile scale.cute -MX
try compile scale.cute --report=html
try run scale.cute --report=csv
try tune scale.cute --jobs=many
try tune scale.cute --gpu=9999
try tune scale.cute --patience=-1
# arguments
scale y=4
scale y=
scale 'y=made(3)'
scale y=@there_is_none.npy
scale 'y=empty(f32, 8:1)' b=hello
scale 'y=empty(f32, 8:1)' -D b=3
scale 'y=empty(f32, 8:1)' -D x=3
scale 'y=empty(f32, 8:1)' -D Q=3
scale 'y=empty(f32, 8:1)' --print q
scale 'y=empty(f32, 8:1)' -k other
try compile scale.cute -k other
try compile scale.cute -D Q=3
