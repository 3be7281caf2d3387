# Tensors of f32 are tf32 only to who asks for it.
cat > k.cute <<'K'
kernel k(const T: type in {f16, tf32}, x: tensor(T, N), y: tensor(f32, N))
{
    launch grid(1) block(32) {
        if thread_idx.x < N { y[thread_idx.x] = f32(x[thread_idx.x]); }
    }
}
K
run() { "$CUTEC" run k.cute "$@" 'y=empty(f32,4:1)' --print y --device=cpu 2>&1 |
    sed 's/executor: .*/executor/'; }
run 'x=iota(f32,4:1)'
run 'x=iota(f32,4:1)' -D T=tf32
run 'x=iota(f64,4:1)' -D T=tf32
run 'x=iota(f32,4:1)' -D T=f16
