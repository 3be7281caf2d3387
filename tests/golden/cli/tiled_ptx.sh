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
# A turn of a whole product's loop is one block: copies have a predicate.
cp "$SRCDIR/examples/gemm_sm80/gemm_sm80.cute" .
"$CUTEC" compile gemm_sm80.cute -k 'gemm[1]' -D ua=1 -D ub=1 --arch=sm_80 \
    --emit=ptx=all.ptx
# from the label that a jump goes back to, to the jump
awk '/^\$/ { n = 0; label = $1; sub(/:.*/, "", label) }
    { line[n++] = $0 }
    /bra/ && index($0, label ";") { for (i = 0; i < n; i++) print line[i] }' \
    all.ptx >loops.ptx
awk '/^\$/ { p = 0 } { b = b $0 "\n" } /mma\.sync/ { p = 1 }
    /bra/ { if (p) printf "%s", b; b = "" } /^\$/ { b = "" }' loops.ptx >k.ptx
count 'products' 'mma\.sync'
count 'copies with a predicate' '@%p[0-9]* cp\.async'
count 'copies without' '	cp\.async\.c[ag]'
count 'barriers' 'bar\.sync'
count 'jumps' 'bra'
