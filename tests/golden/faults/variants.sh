#!/bin/sh
# Each file of variants/ holds kernels with a compile-time parameter `fault`,
# and tests. One whose comment says
#
#	test "NAME" { ... }  // CODE [or CODE] at TAG
#
# must be refused with that code at the line that ends with `// at: TAG`, there
# or as the other side; one without such a comment must pass. Each runs under
# several orders of warps.
for file in "$CASE_DIR"/variants/*.cute
do
	name=$(basename "$file" .cute)
	good=0
	found=0
	grep '^test "' "$file" | sed 's/^test "\([^"]*\)".*/\1/' >tests
	while read -r test
	do
		want=$(sed -n "s|^test \"$test\".*// \([a-z -]*\) at .*|\1|p" \
		    "$file")
		tag=$(sed -n "s|^test \"$test\".*// [a-z -]* at \(.*\)|\1|p" \
		    "$file")
		line=$(sed -n "/\/\/ at: $tag\$/=" "$file")
		for seed in 0 1 7
		do
			"$CUTEC" test --device=cpu --seed=$seed \
			    --filter "$test" "$file" >results 2>reports
			status=$?
			if [ -z "$want" ] && [ $status = 0 ]
			then
				good=$((good + 1))
			elif [ -z "$want" ]
			then
				echo "$name: $test fails (seed $seed)"
				grep -E 'error:' reports | head -n 4
			elif awk -v code="$want" -v line="$line" '
			    BEGIN { n = split(code, codes, " or ") }
			    / error: / {
				now = 0
				for (i = 1; i <= n; i++)
					now += index($0, "[" codes[i] "]")
			    }
			    now && match($0, "[.]cute:" line ":") { ok = 1 }
			    END { exit !ok }' reports
			then
				found=$((found + 1))
			else
				echo "$name: $test is not found (seed $seed)"
				grep -E 'error:' reports | head -n 4
			fi
		done
	done <tests
	echo "$name: $found named, $good right"
done
