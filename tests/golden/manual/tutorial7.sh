# Every program of cute-tutorial(7), run on the executor.
sed -n '/^\.\\" run$/,/^\.EE$/p' "$SRCDIR/man/cute-tutorial.7" |
awk '/^\.\\" run$/ { n++; next } /^\.EX$/ || /^\.EE$/ { next }
    { gsub(/\\-/, "-"); gsub(/\\e/, "\\"); print > ("program" n ".cute") }'
for f in program*.cute
do
	$CUTEC test --device=cpu "$f" >log 2>&1 || cat log
	echo "$f: $(tail -n 1 log)"
done
