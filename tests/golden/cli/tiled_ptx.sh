# What tiled copies and products come to: loads of 16 bytes from shared memory,
# matrices of four, constants in the addresses and no arithmetic between them.
count() {
	printf '%s: %s\n' "$1" "$(grep -c -- "$2" k.ptx)"
}
cp "$SRCDIR/examples/sgemm/sgemm.cute" .
"$CUTEC" compile sgemm.cute -k 'sgemm[1]' -D ua=0 -D ub=0 --arch=sm_80 \
    --emit=ptx=k.ptx
count 'vectors from shared memory' 'ld\.shared\.v4\.b32'
count 'single elements' 'ld\.shared\.b32'
count 'copies of 16 bytes' 'cp\.async\.cg.* 16'
cp "$SRCDIR/tests/kernels/tiled.cute" .
"$CUTEC" compile tiled.cute -k whole -D 'T=f16' -D unit=1 --arch=sm_80 \
    -D 'atom=mma_sync(16, 8, 16, f16, f16, f32)' --emit=ptx=k.ptx
count 'matrices' 'ldmatrix'
count 'products' 'mma\.sync'
