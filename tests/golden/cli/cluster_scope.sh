# Blocks that share what they load: their arrivals do not release to the
# cluster, which is a fence for all of memory, since nothing that one writes is
# read by another. And what may be the same as another only is if that is there.
product() {
	$CUTEC compile -k 'gemm[2]' -D pair=2 -D ua=1 -D ub=1 -D bias=none \
	    -D row_scale=none -D column_scale=none "$@" \
	    "$SRCDIR/examples/gemm_sm90/gemm_sm90.cute"
}
for residual in '' '-D residual=none'
do
	echo "residual: ${residual:-a tensor}"
	# shellcheck disable=SC2086
	product $residual --emit=ptx=- | grep -c 'arrive.*release.cluster'
	# shellcheck disable=SC2086
	product $residual --emit=ir=- | grep -o '^object.*name "C".*writes[ a-z]*'
done
# Nor do those of blocks that share tiles which one of them draws: who waits for
# a number acquires from the cluster, others do not.
echo "tiles that are drawn"
$CUTEC compile -D D=128 -D causal=true -D pair=2 --emit=ptx=drawn.ptx \
    "$SRCDIR/examples/flash_attention_3/flash_attention_3.cute"
what='st.async[^ ]*\|mbarrier.arrive.[a-z]*.[a-z]*'
grep -o "$what\|try_wait.parity.acquire.[a-z]*" drawn.ptx | sort | uniq -c
