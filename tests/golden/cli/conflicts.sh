# No access to shared memory of these products takes longer than it must: a
# remark would say so. The first does, to show that remarks are there.
conflicts() {
	"$CUTEC" compile "$@" --remarks --arch=sm_90a --emit=ir=k.ir 2>&1 |
	    grep -c -e ' error: ' -e '\[bank-conflict\]' || :
}
for name in gemm_sm80 sgemm gemm_sm90 gemm_fp8_blockscaled
do
	cp "$SRCDIR/examples/$name/$name.cute" .
done
cat > columns.cute <<'END'
kernel columns(y: tensor(f32, 32:1))
{
    launch grid(1) block(32)
    {
        shared s: tensor(f32, (32, 32):(32, 1));
        s[thread_idx.x, 0] = 1;
        sync();
        y[thread_idx.x] = s[thread_idx.x, 0];
    }
}
END
conflicts columns.cute
for member in 0 1 2 3
do
	for way in '-D ua=1 -D ub=1' '-D ua=0 -D ub=1' '-D ua=0 -D ub=0'
	do
		# shellcheck disable=SC2086
		conflicts gemm_sm80.cute -k "gemm[$member]" -D T=bf16 $way
	done
done
for way in '-D ua=1 -D ub=1' '-D ua=0 -D ub=0'
do
	# shellcheck disable=SC2086
	conflicts gemm_sm80.cute -k 'gemm[1]' -D T=tf32 -D TC=f32 $way
	# shellcheck disable=SC2086
	conflicts gemm_sm80.cute -k 'gemm[1]' -D T=f64 $way
	# shellcheck disable=SC2086
	conflicts gemm_sm80.cute -k 'gemm[1]' -D T=i8 -D TC=i32 $way
	for to in 0 1
	do
		# shellcheck disable=SC2086
		conflicts sgemm.cute -k 'sgemm[0]' $way -D uc=$to
	done
	# shellcheck disable=SC2086
	conflicts sgemm.cute -k 'sgemm[1]' $way
done
conflicts sgemm.cute -k 'sgemm[2]'
for types in '-D T=bf16' '-D T=bf16 -D TC=f32' '-D T=i8 -D TC=i32' \
    '-D T=tf32 -D TC=f32 -D columns=16'
do
	for member in 0 1 2
	do
		# shellcheck disable=SC2086
		conflicts gemm_sm90.cute -k "gemm[$member]" $types -D ua=1 \
		    -D ub=1 -D bias=none -D residual=none -D row_scale=none \
		    -D column_scale=none
	done
done
conflicts gemm_fp8_blockscaled.cute -D TC=f32
