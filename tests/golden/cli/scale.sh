# Much of one thing: it is compiled in time that grows with the text, or refused by a limit that says what to do.
# Deadlines are far above what is needed, and far below what it would take if each thing looked at all others.
try() { echo "- $*"; "$CUTEC" compile --emit=ir=/dev/null --deadline 20000 "$@" 2>&1 | grep -v '^ ' | cut -c1-160; }
one='kernel k(n: i32, y: tensor(i32, N)) { launch grid(1) block(1) {'

# arms that are known take no level each
awk -v one="$one" 'BEGIN { printf "%s const i = 99999; const if i == 0 { y[0] = 0; }", one
    for (i = 1; i < 100000; i++) printf " else if i == %d { y[0] = %d; }", i, i
    print " } }" }' > known_arms.cute
awk -v one="$one" 'BEGIN { printf "%s const i = 99999; y[0] = i32(if i == 0 { 0 }", one
    for (i = 1; i < 100000; i++) printf " else if i == %d { %d }", i, i
    print " else { 1 }); } }" }' > known_values.cute
for f in known_arms known_values; do try $f.cute; done

# names are found by tables
awk -v one="$one" 'BEGIN { printf "fn f0(a) => a;\n"
    for (i = 1; i < 20000; i++) printf "const c%d = %d; fn f%d(a) => a + c%d;\n", i, i, i, i
    printf "%s let a0 = n;\n", one
    for (i = 1; i < 20000; i++) printf "let a%d = f%d(%d);\n", i, i, i
    print "y[0] = a0; } }" }' > names.cute
# what one kernel needs does not depend on how many others there are
awk 'BEGIN { for (i = 0; i < 3000; i++) printf "kernel k%d(y: tensor(i32, N)) { launch grid(1) block(1) { y[0] = 1; } }\n", i
    }' > kernels.cute
# rings of stages, whose waits are tried at many places
awk 'BEGIN { print "kernel k(x: tensor(f32, (128, N):(1, _)) align(16), y: tensor(f32, 128:1) align(16))"
    print "{ launch grid(1) block(32) {"
    for (i = 0; i < 28; i++) printf "pipeline r%d(3) { a: tensor(f32, 128); }\n", i
    print "const c = tiled_copy(cp_async(f32, 4), 32:1, 4:1); let t = thread_idx.x; var total = zeros(f32, 4);"
    print "for k in 0..N {"
    for (i = 0; i < 28; i++) {
        printf "produce r%d as s ahead(2) { copy(c, partition_s(c, x[_, k], t), partition_d(c, s.a, t)); }\n", i
        printf "consume r%d as s { total += local_tile(s.a, 4, t); }\n", i
    }
    print "} local_tile(y, 4, t) = total; } }" }' > rings.cute
for f in names rings; do try $f.cute; done
try -k k7 kernels.cute

# multiples of a stride: as many parameters as there is room for, and no more
echo 'kernel k(y: tensor(f32, N)) { launch grid(1) block(32) { const for i in 0..400 { y[thread_idx.x + i] = 1; } } }' > strides.cute
"$CUTEC" compile -O0 --emit=ptx=strides.ptx strides.cute && grep -c '\.param \.u64 k_param' strides.ptx
# but what each tensor needs has to be there
awk 'BEGIN { printf "kernel k(y0: tensor(i32, N0)"; for (i = 1; i < 300; i++) printf ", y%d: tensor(i32, N%d)", i, i
    print ") { launch grid(1) block(1) {"; for (i = 0; i < 300; i++) printf "y%d[1] = 1;\n", i; print "} }" }' > tensors.cute
try tensors.cute
# modes of a tensor argument
awk 'BEGIN { printf "kernel k(x: tensor(i32, (N0"; for (i = 1; i < 40; i++) printf ", N%d", i
    print "))) { launch grid(1) block(1) { } }" }' > modes.cute
try modes.cute
true
