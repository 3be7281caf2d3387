# Each of the first allocations fails in turn: the command says that there is no
# memory and leaves with 4, or 3 where it is a file's, or goes on without.
test -f "$BUILDDIR/fake/malloc.so" || exit 77
test "${SANITIZERS:-no}" = no || exit 77
getconf GNU_LIBC_VERSION >log 2>&1 || exit 77
export CUTEJIT_CACHE=off
cat > half.cute <<'END'
kernel half(x: tensor(f32, N), y: tensor(f32, N))
{
    launch grid(1) block(64) { let i = thread_idx.x; if i < N { y[i] = x[i] / 2; } }
}
test "half" {
    let x = iota(f32, 8);
    let y = empty(f32, 8);
    launch half(x, y);
    expect(y == x / 2);
}
END
try() {
	echo "\$ cutec $*"
	for n in $(seq 0 "$most")
	do
		FAILING=$n LD_PRELOAD="$BUILDDIR/fake/malloc.so" \
		    "$CUTEC" "$@" >out 2>err
		status=$?
		case $status in
		0) ;;
		1) grep -q 'memory' out err || echo "$n: $(head -n 1 err)" ;;
		3 | 4) grep -q memory err || echo "$n: $(head -n 1 err)" ;;
		*) echo "$n: status $status, $(tail -n 1 err)" ;;
		esac
	done
}
most=30
try layout '(3, 4):(1, 3)'
try compile half.cute --emit=ast=-
most=60
try fmt --check half.cute
try compile half.cute --emit=ir=- -MD --report=json
try run half.cute 'x=iota(f32, 8)' 'y=empty(f32, 8)' --print y --report=json
try test half.cute --evidence=all.json
try test half.cute --diagnostics=json
