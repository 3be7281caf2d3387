#!/bin/sh
# What READMEs must name, called in the root of the source: complaints.

# A README names each file of its folder, as `name`, `name.c` or `na*`; private
# headers and tables of winners go without saying.
for file in src/*/*.[chly] src/*/*.def src/*/*.sh examples/*/ examples/*/* \
    tests/*
do
	file=${file%/}
	readme=${file%/*}/README
	case $file in
	*_priv.h|*.tune|*/README)	continue ;;
	esac
	tr -cs 'A-Za-z0-9_.*' '\n' <"$readme" | sed 's/\.$//' |
	    awk -v name="${file##*/}" '
		BEGIN { stem = name; sub(/\.[a-z]+$/, "", stem) }
		/.../ && /\*/ {
			gsub(/\./, "[.]")
			gsub(/\*/, ".*")
			pattern = "^(" $0 ")$"
			if (name ~ pattern || stem ~ pattern)
				found = 1
		}
		$0 == name || $0 == stem { found = 1 }
		END { exit !found }' || echo "$readme does not name ${file##*/}"
done

# Functions that they speak of exist.
grep -oE '\bc(j|utejit)_[a-z0-9_]+\(\)' src/README src/*/README |
    tr -d '()' | sort -u | while IFS=: read -r readme name
do
	grep -qE "\b$name\(" src/*.h src/*/*.[chy] ||
	    echo "$readme speaks of $name(), which is not there"
done

# That of the root names each folder.
for place in */
do
	case $place in
	build*/)	continue ;;
	esac
	git ls-files --error-unmatch "$place" >/dev/null 2>&1 || continue
	grep -q "\`$place" README || grep -q "\`${place}\*" README ||
	    echo "README does not name $place"
done

# Each ratio of the summary of examples/bench.md stands in a table behind it.
awk -F '|' '
	/^## / { summary = $0 == "## In short" }
	!/^\|/ { next }
	{
		text = $0
		if (summary)
			text = $3 (NF > 5 ? $5 : "")
		while (match(text, /[0-9]\.[0-9][0-9][0-9]/)) {
			ratio = substr(text, RSTART, RLENGTH)
			if (summary)
				said[ratio] = $2
			else
				found[ratio] = 1
			text = substr(text, RSTART + RLENGTH)
		}
	}
	END {
		for (ratio in said)
			if (!(ratio in found))
				print "examples/bench.md: " ratio " of" \
				    said[ratio] "is in no table"
	}
' examples/bench.md
