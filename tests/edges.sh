#!/bin/sh
# Which edges the tests of the kernels that move memory reach: edges.sh RESULTS
#
# RESULTS holds the logs of `cutec test --launches` of the examples and the
# list of jobs (run.sh). What the launches were given is made a table and
# compared with examples/edges.md; UPDATE=1 rewrites that. What runs on more
# than 2^31 elements is what tests/bench/huge.py launches. An edge that no test
# reaches is a dot, one that the kernel cannot have is blank (tests/edges.none).
# Where nothing is read or nothing is written nothing may be launched: "0" says
# "launches" else.

set -u
LC_ALL=C
export LC_ALL
results=$1
table=$SRCDIR/examples/edges.md
none=$SRCDIR/tests/edges.none
folders=$(sed -n 's/^# folders: //p' "$none" | tr '\n' ' ')

# logs FOLDER: of its files, in order.
logs() {
	awk -v f="examples/$1/" '$2 == "cute" && index($3, f) == 1 {
		print $1 }' "$results/jobs"
}

{
	sed -n 's/^#| *//p' "$none"
	for folder in $folders
	do
		for n in $(logs "$folder")
		do
			grep '^launch: ' "$results/$n.log"
		done | awk -v none="$none" \
		    -v huge="$SRCDIR/tests/bench/huge.py" '
		# extents and strides of a tensor, (3,4):(4,1); into `empty` and
		# `rank`, too
		function look(k, text,	part, e, s, n, i, gap, along) {
			split(text, part, ":")
			gsub(/[()]/, "", part[1])
			gsub(/[()]/, "", part[2])
			n = split(part[1], e, ",")
			split(part[2], s, ",")
			along = 1
			empty = 0
			for (i = n; i >= 1; i--) {
				if (e[i] == 0)
					empty = 1
				if (e[i] > 1 && s[i] != along && s[i] != 0)
					gap = 1
				along *= e[i]
			}
			if (n > 0 && e[n] == 1)
				seen[k, "1"] = 1
			if (n > 0 && e[n] > 1 && e[n] % 2 == 1)
				seen[k, "odd"] = 1
			if (gap && n > 1 && s[1] == 1 && s[n] != 1 &&
			    e[1] > 1)
				seen[k, "transposed"] = 1
			else if (gap)
				seen[k, "strided"] = 1
			rank = n
		}
		# There is nothing to do: all that is written is empty, or all
		# that is read and has as many modes as the first tensor.
		function idle(count,	i, reads, writes) {
			reads = writes = 1
			for (i = 2; i <= count; i++)
				if (field[i] ~ / written$/)
					writes = writes && hollow[i]
				else if (modes[i] == modes[2])
					reads = reads && hollow[i]
			return reads || writes
		}
		BEGIN {
			# by file and kernel, or by what knows the file
			call = "\"[a-z_]+\", \"[a-z_]+\"" \
			    "|(matrix|backward)\\(\"[a-z_]+\""
		}
		{
			# the last of what could be one is the kernel
			if (!match($0, /: [a-z_0-9]+\[[0-9]+\](; .*)?$/))
				next
			n = split(substr($0, RSTART + 2), field, "; ")
			k = field[1]
			sub(/\[[0-9]+\]$/, "", k)
			if (!(k in known)) {
				known[k] = 1
				order[++count] = k
			}
			none_launched = field[n] == "nothing is launched"
			if (none_launched)
				n--
			for (i = 2; i <= n; i++) {
				split(field[i], word, " ")
				seen[k, word[2]] = 1
				look(k, word[3])
				hollow[i] = empty
				modes[i] = rank
				if (word[5] != 0)
					seen[k, "place"] = 1
				if (field[i] ~ / -inf/)
					seen[k, "-inf"] = 1
				if (field[i] ~ / nan/)
					seen[k, "NaN"] = 1
			}
			if (n > 1 && idle(n)) {
				seen[k, "0"] = 1
				if (!none_launched)
					busy[k] = 1
			}
		}
		END {
			while ((getline line < none) > 0)
				if (line !~ /^#/ &&
				    split(line, part, ": ") == 2) {
					m = split(part[2], w, " ")
					for (i = 1; i <= m; i++)
						blank[part[1], w[i]] = 1
				}
			while ((getline line < huge) > 0)
				while (match(line, call)) {
					pair = substr(line, RSTART, RLENGTH)
					line = substr(line,
					    RSTART + RLENGTH)
					m = split(pair, w, "\"")
					seen[w[m - 1], "> 2^31"] = 1
				}
			columns = split("0|1|odd|place|strided|transposed|" \
			    "-inf|NaN|f16|bf16|f32|> 2^31", c, "|")
			for (i = 1; i <= count; i++) {
				printf "| %s |", order[i]
				for (j = 1; j <= columns; j++) {
					x = c[j]
					gsub(/ /, "", x)
					if (c[j] == "0" && order[i] in busy)
						printf " launches |"
					else if ((order[i], c[j]) in seen)
						printf " yes |"
					else if ((order[i], x) in blank)
						printf " |"
					else
						printf " . |"
				}
				printf "\n"
			}
		}'
	done
} >"$results/edges.md"

if cmp -s "$table" "$results/edges.md"; then
	echo '1 passed, 0 failed, 0 skipped'
elif [ "${UPDATE:-0}" = 1 ]; then
	cp "$results/edges.md" "$table"
	echo "updated $table"
	echo '1 passed, 0 failed, 0 skipped'
else
	diff -u "$table" "$results/edges.md" | head -n 60
	echo '0 passed, 1 failed, 0 skipped'
	exit 1
fi
