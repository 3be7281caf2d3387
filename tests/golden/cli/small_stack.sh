# Constants that stand on each other, on a stack that has no room for as many as the limit allows.
{
	echo 'const c0 = 1;'
	seq 1 3000 | awk '{ print "const c" $1 " = c" $1 - 1 " + 1;" }'
	echo 'kernel k(x: tensor(f32, N)) { launch grid(1) block(32) { x[0] = c3000; } }'
} > k.cute
(ulimit -s 700; "$CUTEC" compile k.cute --emit=ir=/dev/null 2> err; echo "status $?")
grep -E 'error|help' err | sed 's/.*: error/error/'
sed 's/ = c3000/ = c40/' k.cute > less.cute
(ulimit -s 700; "$CUTEC" compile less.cute --emit=ir=/dev/null; echo "status $?")
