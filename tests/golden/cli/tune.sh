# A search on the stand-in driver: candidates that fail, end the driver or the
# process, or never end, are passed over; the winner is kept and used.
CUTEJIT_LIBCUDA=$BUILDDIR/fake/libcuda.so.1
[ -f "$CUTEJIT_LIBCUDA" ] || exit 77
CUTEJIT_ASSEMBLER=driver
CUTEJIT_CACHE_DIR=$PWD/cache
export CUTEJIT_LIBCUDA CUTEJIT_ASSEMBLER CUTEJIT_CACHE_DIR
unset CUTEJIT_CACHE
cat >add.cute <<'TEXT'
kernel add(const threads: int = 128, x: tensor(f32, N:1), y: tensor(f32, N:1))
    where threads <= 256
{
    launch grid(ceil_div(N, threads)) block(threads) {
        let i = block_idx.x * threads + thread_idx.x;
        if i < N { y[i] = x[i] + 1.0; }
    }
}
tune add over threads in {32, 64, 96, 128, 160, 192, 512};
bench "add" {
    let x = normal(f32, 1000:1, seed = 1);
    time add(x, empty(f32, 1000:1)) bytes(8 * 1000);
}
TEXT
FAKE_CUDA_TUNE=best:96,fail:64,harm:32,crash:160,hang:192
export FAKE_CUDA_TUNE
"$CUTEC" bench add.cute | sed 's/  */ /g'
"$CUTEC" tune --budget=300 --patience=1 --json=all.json add.cute
echo "status $?"
"$CUTEC" tune --list
cat cache/tuned/Stand_in.txt | sed 's/\t[0-9a-f]\{16\}\t/ SPACE /'
grep -c '"outcome": "pass"' all.json
"$CUTEC" bench add.cute | sed 's/  */ /g'
# the table that goes along: what is there of others stays; a cache that knows
# nothing takes its winners from it, also where the kernel is imported
printf '# kept\n[Another*]\nadd\t*\tx=f32(1024)/0 y=f32(1024)/0\tthreads=192\t1\n' \
    >add.tune
"$CUTEC" tune --export add.cute
"$CUTEC" tune --export add.cute
cat add.tune
CUTEJIT_CACHE_DIR=$PWD/empty "$CUTEC" bench add.cute | sed 's/  */ /g'
mkdir user
cat >user/user.cute <<'TEXT'
import "../add.cute" as lib;
bench "imported" {
    time lib.add(zeros(f32, 1000:1), empty(f32, 1000:1));
}
TEXT
CUTEJIT_CACHE_DIR=$PWD/empty "$CUTEC" bench user/user.cute | sed 's/  */ /g'
# where the defaults are fastest, the line says what they are
FAKE_CUDA_TUNE=best:128 CUTEJIT_CACHE_DIR=$PWD/default \
    "$CUTEC" tune --budget=300 add.cute | tail -n 1
CUTEJIT_CACHE_DIR=$PWD/default "$CUTEC" tune --list
CUTEJIT_CACHE_DIR=$PWD/default "$CUTEC" tune --export add.cute
cat add.tune
CUTEJIT_CACHE_DIR=$PWD/empty "$CUTEC" bench add.cute | sed 's/  */ /g'
"$CUTEC" tune --export user/user.cute
echo "status $?"
"$CUTEC" tune --budget=no add.cute
echo "status $?"
FAKE_CUDA_TUNE=best:96 CUTEJIT_LIBCUDA=/none/libcuda.so.1 \
    "$CUTEC" tune add.cute
echo "status $?"
