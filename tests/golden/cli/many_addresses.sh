# Stores without a loop, each to an address of its own: what the generator asks of two of them, it asks within groups of
# 128, where there are more than a thousand. 6000 took minutes.
many() {
	cat > k.cute <<-END
	kernel k(x: tensor(f32, N), step: int)
	{
	    launch grid(1) block(32)
	    {
	        const for i in 0..$1 { x[thread_idx.x + i * step] = f32(i); }
	    }
	}
	END
	CUTEJIT_CACHE=off "$CUTEC" compile k.cute --arch=sm_90a --deadline=100000 -o k.ptx
	echo "$1: status $?, $(grep -c 'st.global' k.ptx) stores," \
	    "$(grep -A1 'begin inline asm' k.ptx | grep -c 'mov.b64') groups"
}
many 900
many 1200
many 6000
