#!/bin/sh
# The lines that one warp runs, with what they read and write.
cat >reverse.cute <<'END'
kernel reverse(x: tensor(f32, N:1), y: tensor(f32, N:1))
{
    launch grid(2) block(40)
    {
        shared s: tensor(f32, 40);
        let t = thread_idx.x;
        let from = block_idx.x * 40;
        s[t] = x[from + t];
        sync();
        y[from + t] = if t < 34 { s[39 - t] } else { 1 };
    }
}
END
"$CUTEC" run --device=cpu --trace=1,1 reverse.cute 'x=iota(f32, 80)' \
    'y=empty(f32, 80)' | sed 's/: [0-9.]* ms//'
# blocks and warps that there are not
for none in 2 99 1,2
do
	"$CUTEC" run --device=cpu --trace=$none reverse.cute \
	    'x=iota(f32, 80)' 'y=empty(f32, 80)' 2>&1
	echo "status $?"
done
for wrong in x 1,x 1,32 ''
do
	"$CUTEC" run --device=cpu --trace=$wrong reverse.cute 2>&1 | head -n 1
done
