#!/bin/sh
# cute-layout(7): each expression that a line `    -> value` follows.
wrong=0
right=0
while IFS= read -r line; do
	case $line in
	'    -> '*)
		got=$("$CUTEC" layout "$before" 2>&1 | head -n 1)
		if [ "$got" = "${line#    -> }" ]; then
			right=$((right + 1))
		else
			wrong=$((wrong + 1))
			echo "$before is $got, not ${line#    -> }"
		fi ;;
	esac
	before=$line
done <"$SRCDIR/man/cute-layout.7"
[ $right -ge 25 ] || echo "there are only $right"
echo "$wrong wrong"
