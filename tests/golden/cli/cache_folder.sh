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
env CUTEJIT_CACHE_DIR=/dev/null CUTEJIT_CACHE_BYTES=10G "$CUTEC" doctor | grep -A 1 ' cache '
