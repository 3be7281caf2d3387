#!/bin/sh
# What a run on the executor cost, by line: a transpose whose second half has
# bank conflicts, as JSON and as a page.
cat >transpose.cute <<'END'
kernel transpose(x: tensor(f32, (M, N):(N, 1)), y: tensor(f32, (N, M):(M, 1)))
where M % 32 == 0, N % 32 == 0
{
    launch grid(N / 32, M / 32) block(32, 8)
    {
        shared s: tensor(f32, (32, 32):(32, 1));
        let i = thread_idx.x;
        for j in thread_idx.y..32 step(8) {
            s[j, i] = x[block_idx.y * 32 + j, block_idx.x * 32 + i];
        }
        sync();
        for j in thread_idx.y..32 step(8) {
            y[block_idx.x * 32 + j, block_idx.y * 32 + i] = s[i, j];
        }
    }
}
END
set -- transpose.cute 'x=iota(f32, (64, 96):(96, 1))' \
    'y=empty(f32, (96, 64):(64, 1))'
"$CUTEC" run --device=cpu --report=json "$@" | sed 's/: .* ms//'
cat transpose.json
"$CUTEC" run --device=cpu --report=html=page.html "$@" | sed 's/: .* ms//'
grep -c '<td class="no">' page.html
grep -o 's\[i, j\];' page.html
grep -c '<svg' page.html
grep -c '<script\|http' page.html
"$CUTEC" run --device=cpu --report=pdf "$@" 2>&1
"$CUTEC" run --device=cpu --report=json= "$@" 2>&1
"$CUTEC" run --device=cpu --report=json --report=trace "$@" 2>&1
"$CUTEC" run --device=cpu --report=json=no/folder "$@" 2>&1 |
	sed 's/: [0-9].* ms//'
# A warp that takes every other element touches two lines of 128 bytes, and of
# each all sectors of 32; one that takes every 64th a line and a sector a lane.
cat >apart.cute <<'TEXT'
kernel apart(const step: int, x: tensor(f32, N:1), y: tensor(f32, 32:1))
{
    launch grid(1) block(32) { y[thread_idx.x] = x[step * thread_idx.x]; }
}
TEXT
for step in 1 2 8 64
do
	"$CUTEC" run --device=cpu --report=json apart.cute -D step=$step \
	    'x=iota(f32, 2048:1)' 'y=empty(f32, 32:1)' >log 2>&1 || cat log
	grep -o '"total": .*"global_sectors": [0-9]*' apart.json |
	    sed "s/.*\"bytes\"/$step apart: \"bytes\"/"
done
# A line counts the warps that come there, not the steps that a condition or a
# loop takes: all threads of two warps take part in each line but "then".
cat >turns.cute <<'TEXT'
kernel turns(x: tensor(i32, N:1))
{
    launch grid(1) block(64)
    {
        let t = thread_idx.x;
        var k = 2;
        while k <= 16 {
            if x[t] == 0 {
                x[t] = 1;   // then
            } else {
                x[t] += 1;
            }
            k = k * 2;
        }
        for i in 0..4 unroll(1) { x[t] += 2; }
    }
}
TEXT
"$CUTEC" run --device=cpu --report=json turns.cute 'x=full(i32, 64, 3)' >log 2>&1
grep -o '"line": [0-9]*, "warps": [0-9]*, "lanes": [0-9]*' turns.json
