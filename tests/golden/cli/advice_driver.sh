# What the driver's own assembler says of lost performance is told as that of
# others is, where it loads the PTX; no other line is, and what does not fit its
# buffer is cut.
CUTEJIT_LIBCUDA=$BUILDDIR/fake/libcuda.so.1
[ -f "$CUTEJIT_LIBCUDA" ] || exit 77
CUTEJIT_ASSEMBLER=driver CUTEJIT_CACHE_DIR=$PWD/cache
export CUTEJIT_LIBCUDA CUTEJIT_ASSEMBLER CUTEJIT_CACHE_DIR FAKE_CUDA_SAID
unset CUTEJIT_CACHE
cat > k.cute <<'END'
kernel k(x: tensor(f32, 128:1), y: tensor(f32, 128:1))
target sm_90a
{
    launch grid(1) block(256)
    {
        role one warpgroups(0) registers(40) { y[one.thread] = 1; }
        role two warpgroups(1) registers(24) { x[two.thread] = 1; }
    }
}
kernel many(x: tensor(f32, N))
{
    launch grid(1) block(32) { x[thread_idx.x] = 3; }
    launch grid(1) block(64) { x[thread_idx.x] = 4; }
}
END
run() {
	"$CUTEC" run --device=gpu k.cute "$@" > said 2>&1
	status=$?
	sed 's/: [0-9.]* ms$/: done/' said
	echo "status $status"
}
k() { run -k k 'x=empty(f32,128:1)' 'y=empty(f32,128:1)' "$@"; }
FAKE_CUDA_SAID="info    : 0 bytes gmem
info    : (C7507) Potential Performance Loss: 'setmaxnreg' ignored to maintain minimum register requirements.
info    : Function properties for 'k'"
echo "== at the roles"
k
echo "== again, with the PTX out of the cache: the driver loads that, too"
k
FAKE_CUDA_SAID="info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register resources for the wgmma pipeline in the function 'many_l1'"
echo "== at the launch that it names"
run -k many 'x=empty(f32,64)'
echo "== nothing to tell"
rm -rf cache
FAKE_CUDA_SAID="info    : 0 bytes gmem"
k
FAKE_CUDA_SAID=
run -k many 'x=empty(f32,64)'
echo "== more than there is room for"
rm -rf cache
FAKE_CUDA_SAID=$(printf '%70000s\n%s' '' "info    : (C7507) Potential Performance Loss: 'setmaxnreg' ignored.")
k
