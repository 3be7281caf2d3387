# What copies by maps of pixels, of rows by number and of steps are in PTX, and
# that ptxas takes them, on each target that has them.
cat >k.cute <<'TEXT'
kernel k(x: tensor(f32, (N, H, W, 32):(_, _, _, 1)) align(16), y: tensor(f32, (M, K):(_, 1)) align(16), r: tensor(i32, 4:1))
target sm_100a
{
    const l = smem_layout(f32, (4, 32), unit = 1);
    let load = tma_im2col(x, l, lower = (-1, 0), stride = (1, 2));
    let gather = tma_gather(y, l);
    let scatter = tma_scatter(y, l);
    let thin = tma_load(y, l, step = (2, 1));
    let thin_to = tma_store(y, l, step = (3, 1));
    launch grid(1) block(32)
    {
        shared s: tensor(f32, l);
        shared b: tensor(mbarrier, 1:1);
        if thread_idx.x == 0 {
            mbarrier_init(b[0], 1);
            fence(.mbarrier_init);
            mbarrier_arrive_expect_tx(b[0], 2048);
            copy(load, x, s, at = (0, 1, 2, 0), offset = (1, 2), barrier = b[0]);
            copy(gather, y, s, rows = r, at = 32, barrier = b[0]);
            copy(thin, local_tile(y, (8, 32), (0, 0)), s, barrier = b[0]);
            mbarrier_wait(b[0], 0);
            copy(scatter, s, y, rows = r, at = 32, raw = true);
            copy(thin_to, s, local_tile(y, (12, 32), (0, 1)), raw = true);
            bulk_commit();
            bulk_wait(0);
        }
    }
}
kernel rows(y: tensor(f32, (M, K):(_, 1)) align(16), r: tensor(i32, 4:1))
{
    const l = smem_layout(f32, (4, 32), unit = 1);
    let gather = tma_gather(y, l);
    launch grid(1) block(32) cluster(2)
    {
        shared s: tensor(f32, l);
        shared b: tensor(mbarrier, 1:1);
        if thread_idx.x == 0 {
            mbarrier_init(b[0], 1);
            copy(gather, y, s, rows = r, at = 32, barrier = b[0]);
            const if several { copy(gather, y, s, rows = r, at = 32, barrier = b[0], multicast = 3); }
        }
    }
}
TEXT
sed 's/^kernel rows(/&const several = false, /' k.cute >l.cute
"$CUTEC" compile -k k --arch=sm_100a --emit=ptx=k.ptx l.cute
grep -o 'cp[a-z.]*async.bulk.tensor[^ ]*' k.ptx
for target in sm_100a sm_103a sm_120a
do
	"$CUTEC" compile -k rows --arch=$target --emit=ptx=$target.ptx l.cute
	grep -o 'cp.async.bulk.tensor[^ ]*' $target.ptx
done
"$CUTEC" compile -k rows -D several=true --arch=sm_100a --emit=ptx=many.ptx l.cute
grep -o 'cp.async.bulk.tensor[^ ]*' many.ptx
"$CUTEC" compile -k rows -D several=true --arch=sm_120a --emit=ptx=many.ptx l.cute
echo "status $?"
"$CUTEC" compile -k rows --arch=sm_90a --emit=ptx=none.ptx l.cute
echo "status $?"
sed -i 's/^target sm_100a//' l.cute
"$CUTEC" compile -k k --arch=sm_120a --emit=ptx=none.ptx l.cute
echo "status $?"
PTXAS=${PTXAS:-$(command -v ptxas ||
    command -v "${CUDA_HOME:-/usr/local/cuda}/bin/ptxas")}
[ -n "$PTXAS" ] || exit 0
"$PTXAS" -arch=sm_100a -o /dev/null k.ptx || echo failed
for target in sm_100a sm_103a sm_120a
do
	"$PTXAS" -arch=$target -o /dev/null $target.ptx || echo failed
done
