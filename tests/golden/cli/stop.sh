#!/bin/sh
# What the first warp that comes to a line holds, as tables.
cat >sums.cute <<'END'
kernel sums(x: tensor(f32, N:1), y: tensor(f32, N:1)) target sm_90a
{
    launch grid(2) block(40)
    {
        shared s: tensor(f32, (8, 5):(5, 1));
        shared b: tensor(mbarrier, 2:1);
        let t = thread_idx.x;
        let from = block_idx.x * 40;
        var v = zeros(f32, 2);
        if t == 0 { mbarrier_init(b[0], 3); }
        for k in 0..2 {
            s[t / 5, t % 5] = x[from + t];
            v[0] += x[from + t];
            if t < 34 { v[1] = s[t / 5, t % 5] / f32(k + 3); }
            sync();
        }
        y[from + t] = v[0] + v[1];
    }
}
END
set -- sums.cute 'x=iota(f32, 80)' 'y=empty(f32, 80)'
for at in 14 15 '15 --trace=1,1' 3
do
	# shellcheck disable=SC2086
	"$CUTEC" run --device=cpu --stop-at=$at "$@" 2>&1 |
	    sed 's/: [0-9.]* ms//; s/ *$//'
done
"$CUTEC" run --device=cpu --stop-at=x "$@" 2>&1 | head -n 1
