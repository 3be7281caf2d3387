#!/bin/sh
# cute-layout(7): each expression that a line `    -> value` or `    = value`
# follows, as a program has it.
wrong=0
right=0
while IFS= read -r line; do
	case $line in
	'    -> '*) value=${line#    -> } ;;
	'    = '*) value=${line#    = } ;;
	*) before=$line; continue ;;
	esac
	case $before in
	'    '*|.*) before=$line; continue ;;
	esac
	got=$("$CUTEC" layout "$before" 2>&1 | head -n 1)
	if [ "$got" = "$value" ]; then
		right=$((right + 1))
	else
		wrong=$((wrong + 1))
		echo "$before is $got, not $value"
	fi
	before=$line
done <"$SRCDIR/man/cute-layout.7"
[ $right -ge 120 ] || echo "there are only $right"
echo "$wrong wrong"
