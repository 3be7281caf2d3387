# Without LLVM everything works but generating code, which says what is missing.
cat > k.cute <<'END'
kernel double(x: tensor(f32, N:1))
{
    launch grid(1) block(N) { x[thread_idx.x] = 2 * x[thread_idx.x]; }
}
test "doubles" {
    let x = iota(f32, 4:1);
    launch double(x);
    expect(x == 2 * iota(f32, 4:1));
}
END
make() { "$CUTEC" compile k.cute --arch=sm_80 "$@"; }
export CUTEJIT_CACHE_DIR=$PWD/cache
export CUTEJIT_LLVM=/nonexistent/libLLVM.so
make --emit=ptx=first.ptx 2>err && exit 77	# LLVM is built in
cat err
make --emit=llvm=- ; echo "status $?"
make --emit=ir=- | sed -n 1p
"$CUTEC" test k.cute --device=cpu | sed 's/, [0-9.]* ms//'
"$CUTEC" doctor | sed -n '/generator/,+1p'

# a library that is none, then the right one
CUTEJIT_LLVM=libm.so.6 make --emit=ptx=first.ptx; echo "status $?"
unset CUTEJIT_LLVM
make --emit=ptx=first.ptx; echo "status $?"

# out of the cache
CUTEJIT_LLVM=/nonexistent/libLLVM.so make --emit=ptx=again.ptx
echo "status $?"
cmp first.ptx again.ptx && echo the same
