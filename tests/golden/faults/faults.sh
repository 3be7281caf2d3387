#!/bin/sh
# Each file of kernels/ holds kernels with one fault each, marked at its line by a comment
# `fault: CODE`, and right ones beside them. Every mark must be named by a
# report of that code, at its place or as the other side; every report must
# name a marked line. Each file runs under several orders of warps. Tests that
# pass are those of the right kernels.
for file in "$CASE_DIR"/kernels/*.cute
do
	name=$(basename "$file" .cute)
	for seed in 0 1 7
	do
		"$CUTEC" test --device=cpu --seed=$seed "$file" 2>reports \
		    >results
		awk -v name="$name" -v seed=$seed '
		function close_report() {
			if (code != "" && !named)
				print name ".cute:" line ": nothing is " \
				    "planted here: " code " (seed " seed ")"
			code = ""
		}
		function look(l) {
			named = named || l in lines
			seen[l, code] = 1
		}
		FNR == NR {
			if (match($0, /fault: [a-z-]+/)) {
				marks[FNR, substr($0, RSTART + 7,
				    RLENGTH - 7)] = 1
				lines[FNR] = 1
			}
			next
		}
		match($0, /^[^ ]*\.cute:[0-9]+:/) {
			split($0, part, ":")
			if ($0 ~ /: error: .*\[[a-z-]+\]$/) {
				close_report()
				code = $0
				sub(/.*\[/, "", code)
				sub(/\]$/, "", code)
				named = 0
				line = part[2]
				look(line)
			} else if ($0 ~ /note: the other side is here/)
				look(part[2])
		}
		END {
			close_report()
			for (m in marks) {
				planted++
				split(m, at, SUBSEP)
				if (m in seen)
					found++
				else
					print name ".cute:" at[1] ": " at[2] \
					    " is not reported (seed " seed ")"
			}
			printf "%s, seed %d: %d of %d planted faults are " \
			    "named\n", name, seed, found, planted
		}' "$file" reports
		[ $seed != 0 ] || sed -n 's/^pass .*\.cute: \(.*\) (cpu.*/right: \1/p' \
		    results
	done
done
