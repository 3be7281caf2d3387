# A cache that cannot be kept, and words that are not understood, are told once,
# and nothing fails for it.
unset CUTEJIT_CACHE CUTEJIT_CACHE_BYTES CUTEJIT_CACHE_DIR
cat > k.cute <<'END'
kernel k(const n in {1, 2}, x: tensor(f32, N)) { launch grid(1) block(32) { x[thread_idx.x] = n; } }
END
compile() { env "$@" "$CUTEC" compile k.cute --arch=sm_90 --emit=ptx; echo "status $?"; rm -f ./*.ptx; }
compile CUTEJIT_CACHE_DIR=/dev/null
compile CUTEJIT_CACHE_DIR=/dev/null CUTEJIT_CACHE=readonly
compile CUTEJIT_CACHE_DIR=/dev/null CUTEJIT_CACHE=off
compile CUTEJIT_CACHE_DIR=cache CUTEJIT_CACHE=on
compile CUTEJIT_CACHE_DIR=cache CUTEJIT_CACHE_BYTES=10G
env CUTEJIT_CACHE_DIR=cache "$CUTEC" cache stats | grep -o 'of [0-9]*$'
env CUTEJIT_CACHE_DIR=cache CUTEJIT_CACHE_BYTES=10000 "$CUTEC" cache stats | grep -o 'of [0-9]*$'
env CUTEJIT_CACHE_DIR=/dev/null CUTEJIT_CACHE_BYTES=10G "$CUTEC" doctor | grep -A 1 ' cache '
for word in CUTEJIT_CACHE_BYTES=-1 CUTEJIT_CACHE_BYTES=99999999999999999999 CUTEJIT_REMOTE_MODE=read \
	CUTEJIT_REMOTE_TIMEOUT_MS=1s CUTEJIT_ASSEMBLER=nvcc CUTEJIT_PTXAS=/nowhere/ptxas CUTEJIT_PTXAS="$CASE_DIR" \
	CUTEJIT_WORKER=/nowhere CUTEJIT_DUMP=ptx,sass:. CUTEJIT_DUMP=ptx,ir:.; do
	compile CUTEJIT_CACHE_DIR=cache "$word" 2>&1 | sed "s|$CASE_DIR|FOLDER|"
	rm -f ./*.ir
done
CUTEJIT_ASSEMBLER=nvcc "$CUTEC" doctor | grep -A 1 ' environment .* none '
for what in ls 'show 0' verify prune; do
	# shellcheck disable=SC2086
	env CUTEJIT_CACHE_DIR=/dev/null "$CUTEC" cache $what 2>&1; echo "status $?"
	# shellcheck disable=SC2086
	env CUTEJIT_CACHE_DIR=not_yet "$CUTEC" cache $what 2>&1; echo "status $?"
done
