# Tables of winners that were written by hand, or that others may write, say what
# is wrong with them, once; a search that is killed leaves no process behind.
CUTEJIT_LIBCUDA=$BUILDDIR/fake/libcuda.so.1
[ -f "$CUTEJIT_LIBCUDA" ] || exit 77
CUTEJIT_ASSEMBLER=driver
CUTEJIT_CACHE_DIR=$PWD/cache
FAKE_CUDA_TUNE=best:96
export CUTEJIT_LIBCUDA CUTEJIT_ASSEMBLER CUTEJIT_CACHE_DIR FAKE_CUDA_TUNE
unset CUTEJIT_CACHE
cat >add.cute <<'TEXT'
kernel add(const threads: int = 128, const lower = false, x: tensor(f32, N:1),
           y: tensor(f32, N:1))
    where threads <= 256
{
    launch grid(ceil_div(N, threads)) block(threads) {
        let i = block_idx.x * threads + thread_idx.x;
        if i < N { y[i] = x[i] + (if lower { -1.0 } else { 1.0 }); }
    }
}
tune add over threads in {32, 96, 64};
bench "add" {
    let x = normal(f32, 1000:1, seed = 1);
    time add(x, empty(f32, 1000:1)) bytes(8 * 1000);
}
bench "again" {
    // as the kernel does by itself: the same class
    time add(zeros(f32, 1000:1), empty(f32, 1000:1), lower = false);
}
TEXT
of='add\t*\tx=f32(1024)/0 y=f32(1024)/0'
bench() {
	"$CUTEC" bench add.cute 2>&1 | sed 's/  */ /g;/^bench /d;s/ \.\.\..*//'
}
# table TEXT: a table and what comes of it
table() {
	printf "$1" >add.tune
	echo "-- $1"
	bench
}
table "[sm_90x132]\n$of\tthreads=96\t0.1\n"
table "[NVIDIA*, sm_90x132]\r\n\r\n# kept\r\n$of\tthreads=96\t0.1\r\n"
table "[sm_80x108]\n$of\tthreads=96\t0.1\n"
table "[sm_90x132\n$of\tthreads=96\t0.1\n"
table "$of\tthreads=96\t0.1\n"
table "[sm_90x132]\nadd * threads=96 0.1\n"
table "[sm_90x132]\n$of\tthreads=96\tfast\n"
table "[sm_90x132]\nad\t*\tx=f32(1024)/0\tthreads=96\t0.1\n"
table "[sm_90x132]\n$of\tthread=96\t0.1\n"
table "[sm_90x132]\n$of\tdefault: thread=128\t0.1\n"
table "[sm_90x132]\n$of\tthreads 96\t0.1\n"
table "[sm_90x132]\n$of\tthreads=many\t0.1\n"
table "[sm_90x132]\n$of\tthreads=512\t0.1\n"
rm add.tune
# the user's own: one that others may write is neither used nor replaced
"$CUTEC" tune --budget=300 --filter=add add.cute | tail -n 1
bench
chmod g+w cache/tuned/Stand_in.txt
bench | sed "s,$PWD/,,"
"$CUTEC" tune --list 2>&1 | sed "s,$PWD/,,"
"$CUTEC" tune --budget=300 --filter=add add.cute 2>&1 | sed "s,$PWD/,," |
    grep -v threads
chmod g-w cache/tuned/Stand_in.txt
bench
CUTEJIT_CACHE=off "$CUTEC" tune --budget=0.0001 --filter=add add.cute
CUTEJIT_CACHE=readonly "$CUTEC" tune --budget=300 --filter=add add.cute 2>&1 |
    head -n 1
# two searches and exports at once
sed 's/ add(/ sub(/;s/ add / sub /;s/"add"/"sub"/' add.cute >sub.cute
"$CUTEC" tune --budget=300 sub.cute >sub.log &
"$CUTEC" tune --budget=300 add.cute >add.log &
wait
"$CUTEC" tune --list
# nobody holds the pipe when the parent of a search has been killed
mkfifo pipe
timeout 60 cat pipe >heard &
reader=$!
FAKE_CUDA_TUNE=hang:96 "$CUTEC" tune --budget=300 --patience=300 add.cute \
    >pipe 2>&1 &
search=$!
until grep -qs threads=32 heard; do sleep 0.1; done
kill -9 $search
wait $reader
echo "status $?"
