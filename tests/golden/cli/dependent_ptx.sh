# A dependent kernel waits behind what is its block's own; maps are asked for in
# front of that. What is shared with others comes behind. The launch behind may
# begin where the text says so, else then; what is read early is not waited for.
# Ways that part, and behind which nothing is shared, wait for themselves, and
# all at the end.
cat > late.cute <<'END'
kernel late(x: tensor(f32, (M, N):(_, 1)) align(16), y: tensor(f32, M:1))
target sm_90a
{
    let load = tma_load(x, (4, 32):(32, 1));
    launch grid(1) block(32) dependent
    {
        shared s: tensor(f32, (4, 32):(32, 1)) align(128);
        shared b: tensor(mbarrier, 1:1);
        if thread_idx.x == 0 { mbarrier_init(b[0], 1); }
        sync();
        if thread_idx.x == 0 {
            mbarrier_arrive_expect_tx(b[0], 512);
            copy(load, local_tile(x, (4, 32), (0, 0)), s, barrier = b[0]);
        }
        mbarrier_wait(b[0], 0);
        if thread_idx.x < 4 { y[thread_idx.x] = s[thread_idx.x, 0]; }
    }
}

kernel early(x: tensor(f32, N:1), y: tensor(f32, N:1))
target sm_90
{
    launch grid(1) block(32) dependent
    {
        if x[0] == 0 { return; }
        y[thread_idx.x] = 1;
    }
}

kernel told(x: tensor(f32, N:1), y: tensor(f32, N:1))
target sm_80
{
    launch grid(1) block(32) dependent
    {
        let v = x[thread_idx.x];
        launch_dependents();
        y[thread_idx.x] = v;
    }
}

kernel ready_by_tma(x: tensor(f32, (M, N):(_, 1)) align(16), y: tensor(f32, M:1))
target sm_90a
{
    let load = tma_load(x, (4, 32):(32, 1));
    launch grid(1) block(32) dependent
    {
        shared s: tensor(f32, (4, 32):(32, 1)) align(128);
        shared b: tensor(mbarrier, 1:1);
        if thread_idx.x == 0 { mbarrier_init(b[0], 1); }
        sync();
        if thread_idx.x == 0 {
            mbarrier_arrive_expect_tx(b[0], 512);
            copy(load, local_tile(x, (4, 32), (0, 0)), s, barrier = b[0], early = true);
        }
        mbarrier_wait(b[0], 0);
        if thread_idx.x < 4 { y[thread_idx.x] = s[thread_idx.x, 0]; }
    }
}

kernel asked(x: tensor(f32, (M, N):(_, 1)) align(16), y: tensor(f32, M:1))
target sm_90a
{
    let load = tma_load(x, (4, 64):(64, 1), box = (2, 64));
    launch grid(1) block(32) dependent
    {
        tma_prefetch(load, local_tile(x, (4, 64), (0, 1)));
        y[thread_idx.x] = x[0, thread_idx.x];
    }
}

kernel ready(w: tensor(f32, N:1), x: tensor(f32, N:1), y: tensor(f32, N:1))
target sm_80
{
    launch grid(1) block(32) dependent
    {
        let v = load(w[thread_idx.x], cache = .streaming, early = true);
        y[thread_idx.x] = v * x[thread_idx.x];
    }
}

kernel ways(x: tensor(f32, N:1), y: tensor(f32, N:1))
target sm_80
{
    launch grid(1) block(64) dependent
    {
        shared s: tensor(f32, 32:1);
        if thread_idx.x < 32 {
            prefetch(x[thread_idx.x..thread_idx.x + 1]);
            if thread_idx.x < 4 { s[thread_idx.x] = x[thread_idx.x]; }
        } else { y[thread_idx.x] = 1; }
    }
}
END
what='prefetch.tensormap\|mbarrier.init\|bar.sync\|griddepcontrol.wait'
what="$what\|griddepcontrol.launch_dependents\|cp.async.bulk[a-z.]*tensor\|ld.global"
what="$what\|prefetch.global\|st.global\|^.visible .entry [a-z]*"
"$CUTEC" compile late.cute --arch=sm_90a --emit=ptx=out.ptx || exit 1
cat out.*ptx | grep -o "$what"
