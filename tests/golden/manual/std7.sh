#!/bin/sh
# cute-std(7): what src/std/ exports, and nothing else, as it is declared.
# A declaration ends where its body, or the value of a constant, begins.
cat "$SRCDIR"/src/std/*.cute | awk '
	/^(fn|kernel|const) / { text = ""; open = 1 }
	!open { next }
	{
		sub(/^ +/, " ")
		text = text $0
		sub(/\) \{.*$/, ")", text)
		if ($0 !~ /^const / && text !~ /\)( -> .*\))?( => .*)?$/)
			next
		sub(/ =>.*$/, "", text)
		sub(/;.*$/, "", text)
		open = 0
		if (text !~ /^(fn|kernel|const) __/)
			print text
	}
' | sort >declared
sed -nE 's/^\.B "((fn|kernel|const) .*)"$/\1/p' \
    "$SRCDIR/man/cute-std.7" | sed 's/\\-/-/g' | sort >described
diff declared described && echo "all of $(wc -l <declared | tr -d ' ') lines"
