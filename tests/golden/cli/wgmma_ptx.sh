# Products of warpgroups: waits stand where what a product uses is touched, for
# no more groups than must have ended; the left operand stays in its registers,
# so that the assembler, where there is one, has nothing to advise and keeps
# nothing in memory.
cp "$SRCDIR/tests/kernels/wgmma.cute" .
PTXAS=${PTXAS:-$(command -v ptxas ||
    command -v "${CUDA_HOME:-/usr/local/cuda}/bin/ptxas")}
count() {
	printf '%s: %s\n' "$1" "$(grep -c -- "$2" k.ptx)"
}
look() {
	"$CUTEC" compile wgmma.cute --arch=sm_90a --emit=ptx=k.ptx "$@" ||
	    return
	[ -n "$PTXAS" ] || return
	"$PTXAS" -arch=sm_90a -v k.ptx -o k.cubin 2>&1 |
	    grep -i -e 'warning' -e 'error' -e '[1-9][0-9]* bytes spill'
}
look -k chain -D n=128 -D D=128 -D turns=9
count 'products' 'wgmma\.mma_async'
count 'groups' 'wgmma\.commit_group'
count 'all but one' 'wgmma\.wait_group.* 1;'
count 'all' 'wgmma\.wait_group.* 0;'
count 'local memory' '\.local'
look -k registers_shared -D A=f8e4m3 -D B=f8e5m2 -D C=f32 -D n=64 -D K=64 \
    -D turns=3
count 'mixed 8-bit floats' 'm64n64k32\.f32\.e4m3\.e5m2 '
look -k registers_shared -D A=i8 -D B=u8 -D C=i32 -D n=64 -D K=64
count 'mixed integers' 'm64n64k32\.s32\.s8\.u8 '
look -k shared_shared -D A=f16 -D B=f16 -D C=f16 -D n=64 -D K=64 -D ua=0 \
    -D ub=0
count 'both turned' ', p, 1, 1, 1, 1;'
