# What a run gets that cannot be: memory that is shared, PTX without a twin,
# a tool that is not there.
cat > k.cute <<'EOF'
kernel add(x: tensor(f32, N), y: tensor(f32, N))
{
    launch grid(1) block(32) { let i = thread_idx.x; if i < N { y[i] = x[i] + 1; } }
}
kernel lane(y: tensor(u32, N))
{
    launch grid(1) block(32) { y[thread_idx.x] = ptx("mov.u32 $0, %laneid;", u32, pure = true); }
}
test "shared" { let x = iota(f32, 40); launch add(x[0..32], x[8..40]); }
EOF
"$CUTEC" test --device=cpu k.cute 2>&1 | sed 's/, [0-9.]* ms//'
"$CUTEC" run --device=cpu k.cute -k lane 'y=empty(u32, 32)'
echo "status $?"
# An assembler that knows one answer, and nothing to take it apart.
cat > ptxas <<'EOF'
#!/bin/sh
case $* in *--version*) echo "release 13.0, V13.0.1"; exit 0 ;; esac
while [ $# -gt 0 ]; do [ "$1" = -o ] && out=$2; shift; done
cp /bin/sh "$out"
EOF
chmod +x ptxas
CUTEJIT_PTXAS=$PWD/ptxas CUTEJIT_NVDISASM=/nonexistent/nvdisasm "$CUTEC" compile k.cute -k add --emit=sass=-
echo "status $?"
