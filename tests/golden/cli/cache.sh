# The cache seen by its command: filled by a compile to PTX, listed, checked,
# damaged, pruned.
export CUTEJIT_CACHE_DIR=$PWD/cache
unset CUTEJIT_CACHE CUTEJIT_CACHE_BYTES
cat >relu.cute <<'END'
kernel relu(x: tensor(T, N:1), y: tensor(T, N:1), const T = f16)
{
    launch grid(ceil_div(N, 256)) block(256)
    {
        let i = block_idx.x * 256 + thread_idx.x;
        if i < N { y[i] = max(x[i], T(0)); }
    }
}
END
# digits of keys, sizes, times and folders differ from machine to machine
plain() {
	sed -e 's/[0-9a-f]\{64\}/KEY/g' -e 's/^[0-9a-f]\{16\} */KEY /' -e 's/[0-9]\{4\}-[0-9-]* [0-9:]*/TIME/' \
	    -e "s|$PWD|HERE|" -e 's/[0-9]\{4,\}/BYTES/g' \
	    -e "s|cache/v1/../|cache/v1/AB/|"
}

echo '-- nothing yet'
"$CUTEC" cache ls
"$CUTEC" cache stats | plain
echo '-- two compiles, one entry'
"$CUTEC" compile --emit=ptx=one.ptx --arch=sm_80 relu.cute
"$CUTEC" compile --emit=ptx=two.ptx --arch=sm_80 relu.cute
cmp one.ptx two.ptx
"$CUTEC" cache ls | plain
"$CUTEC" cache verify
"$CUTEC" cache show "$("$CUTEC" cache ls | cut -c 1-16)" |
    grep -v '^product' | plain
echo '-- no such entry'
"$CUTEC" cache show ffffffffff
echo "status $?"
echo '-- damaged'
file=$(echo cache/v1/*/*)
printf x | dd of="$file" bs=1 seek=700 conv=notrunc 2>/dev/null
"$CUTEC" cache verify | plain
"$CUTEC" compile --emit=ptx=three.ptx --arch=sm_80 relu.cute
cmp one.ptx three.ptx
"$CUTEC" cache verify
echo '-- off'
CUTEJIT_CACHE=off "$CUTEC" compile --emit=ptx=four.ptx --arch=sm_90 relu.cute
"$CUTEC" cache stats | plain
echo '-- pruned'
"$CUTEC" cache prune --max-bytes 0 | plain
"$CUTEC" cache ls
"$CUTEC" cache sweep
echo "status $?"
