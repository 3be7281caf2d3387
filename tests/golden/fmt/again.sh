#!/bin/sh
# Every program that comes with the source, laid out twice: the second time
# changes nothing, and tree and comments are as before.
comments() {
	grep -o '//.*' "$1" | sed 's/[ \t\r]*$//'
}

for f in "$SRCDIR"/examples/*/*.cute "$SRCDIR"/src/std/*.cute \
    "$SRCDIR"/tests/golden/ast/*.cute
do
	$CUTEC fmt - <"$f" >once 2>/dev/null || continue
	name=$(basename "$f")
	$CUTEC fmt - <once >twice
	cmp once twice || echo "$name: changes again"
	$CUTEC compile --emit=ast=- - <"$f" >before
	$CUTEC compile --emit=ast=- - <once >after
	cmp before after || echo "$name: another tree"
	comments "$f" >before
	comments once >after
	cmp before after || echo "$name: other comments"
	echo x >>count
done
[ "$(wc -l <count)" -gt 30 ] && echo 'all as before'
