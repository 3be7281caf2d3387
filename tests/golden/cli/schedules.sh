#!/bin/sh
# Several orders of warps: results that differ are shown, equal ones are not.
cat >orders.cute <<'END'
kernel last(y: tensor(i32, N:1))
{
    launch grid(1) block(96)
    {
        // allow race: the last one may win
        if lane_idx == 0 { y[0] = i32(warp_idx); }
    }
}

kernel ticket(y: tensor(i32, N:1))
{
    launch grid(1) block(96)
    {
        if lane_idx == 0 { y[warp_idx] = atomic_add(y[5], 1); }
    }
}

kernel equal(y: tensor(i32, N:1))
{
    launch grid(1) block(96)
    {
        if lane_idx == 0 { atomic_add(y[0], i32(warp_idx)); }
    }
}
END
for kernel in last ticket equal
do
	"$CUTEC" run --device=cpu --schedules=8 -k $kernel orders.cute \
	    'y=full(i32, 6, 0)' 2>&1 | sed 's/executor: .*/executor/'
done
