#!/bin/sh
# Run tests and count them:
# run.sh [unit|api|golden|kernels|examples|lsp|fuzz|gpu]...
#
# The Makefile calls this with SRCDIR and BUILDDIR. Jobs run side by side, one
# per processor; each leaves a log and its count, and what failed is shown in
# full. The last line is `N passed, N failed, N skipped`. tests/README says
# what the kinds of tests are. UPDATE=1 rewrites what golden tests expect.

set -u
LC_ALL=C
NO_COLOR=1
LLVM_VERSION=${LLVM_VERSION:-22}
export LC_ALL NO_COLOR SRCDIR BUILDDIR LLVM_VERSION
CUTEC=$BUILDDIR/cutec
export CUTEC

asan=detect_leaks=1:abort_on_error=1:allocator_may_return_null=1
ASAN_OPTIONS=${ASAN_OPTIONS:-$asan}
LSAN_OPTIONS=suppressions=$SRCDIR/tests/lsan.supp:print_suppressions=0
UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1:halt_on_error=1}
export ASAN_OPTIONS LSAN_OPTIONS UBSAN_OPTIONS

# Two minutes for a command, since other work may go on beside it; twice as long
# where sanitizers look on.
seconds=120
[ "${SANITIZERS:-no}" = no ] || seconds=240

# ---- One golden test --------------------------------------------------------

passed=0
failed=0
skipped=0

pass() {
	passed=$((passed + 1))
}

fail() {
	printf 'FAIL %s\n' "$*"
	failed=$((failed + 1))
}

# directive NAME FILE: the text behind `// NAME:` in its first lines.
directive() {
	sed -n -e "s|^// $1: *||p" -e 12q "$2"
}

# compare EXPECTED FOUND: show the difference, or take it over. What a case
# that has failed already printed is never taken over.
compare() {
	if cmp -s "$1" "$2"; then
		pass
	elif [ "${UPDATE:-0}" = 1 ] && [ $failed -eq 0 ]; then
		cp "$2" "$1"
		echo "updated $1"
		pass
	else
		fail "$(basename "$1")"
		diff -u "$1" "$2" | head -n 60
	fi
}

limited() {
	timeout -k 5 "$seconds" "$@"
}

# golden_stage CASE KIND EXPECTED: one stage's printed form.
golden_stage() {
	case $2 in
	llvm|ptx)	# LLVM's own words change with its version
		if [ "${LLVM_VERSION%%.*}" != 22 ]; then
			skipped=$((skipped + 1))
			return
		fi ;;
	esac
	# shellcheck disable=SC2046
	limited "$CUTEC" compile "--emit=$2=-" $(directive emit "$1") "$1" \
	    >"$scratch/out" 2>"$scratch/err" </dev/null
	status=$?
	if [ $status -ne 0 ]; then
		fail "$1: --emit=$2 gave status $status"
		head -n 20 "$scratch/err"
		return
	fi
	compare "$3" "$scratch/out"
}

# golden_run CASE NAME: what a command prints and returns. An .err that names
# an error belongs to status 1, any other to 0.
golden_run() {
	args=$(directive run "$1")
	if [ -z "$args" ]; then
		args="compile --emit=ptx=/dev/null"
		[ ! -f "$2.out" ] || args="test --device=cpu"
	fi
	# No test hands a device to the command: as root it could harm it.
	args=$(printf '%s\n' "$args" | sed "s|/dev/null|$scratch/discard|g")
	# shellcheck disable=SC2086
	limited "$CUTEC" $args "$1" >"$scratch/out" 2>"$scratch/err" </dev/null
	status=$?
	if [ $status -ge 70 ]; then	# our fault, a signal, out of time
		fail "$1: status $status"
		head -n 20 "$scratch/err"
		return
	fi
	wanted=0
	if grep -q '^\(error: \|.*: error: \)' "$scratch/err"; then
		wanted=1
	fi
	if grep -q '[1-9][0-9]* failed' "$scratch/out"; then
		wanted=1
	fi
	if [ $status -ne $wanted ]; then
		fail "$1: status $status, needs $wanted"
		head -n 20 "$scratch/err"
	fi
	if [ -f "$2.err" ]; then
		compare "$2.err" "$scratch/err"
	elif [ -s "$scratch/err" ]; then
		fail "$1: printed to standard error"
		head -n 20 "$scratch/err"
	fi
	if [ -f "$2.out" ]; then	# how long a test took is no result
		sed 's/(\([a-z]*\), [0-9.]* ms)$/(\1)/' "$scratch/out" \
		    >"$scratch/timeless"
		compare "$2.out" "$scratch/timeless"
	fi
}

# golden_cute CASE.cute: everything that lies beside it.
golden_cute() {
	name=${1%.cute}
	has_run=no
	for expected in "$name".*
	do
		kind=${expected#"$name".}
		case $kind in
		cute)		;;
		out|err)	has_run=yes ;;
		*.ir)		golden_stage "$1" "ir:${kind%.ir}" \
				    "$expected" ;;
		tokens|ast|ir|host|llvm|ptx)
				golden_stage "$1" "$kind" "$expected" ;;
		*)		fail "$expected: no stage has this name" ;;
		esac
	done
	[ $has_run = no ] || golden_run "$1" "$name"
	[ $((passed + failed + skipped)) -gt 0 ] ||
	    fail "$1: nothing is expected of it"
}

# golden_sh CASE.sh: a session with the command, in a folder of its own.
golden_sh() {
	CASE_DIR=$(pwd)
	export CASE_DIR
	(cd "$scratch" && mkdir work && cd work &&
	    limited sh "$CASE_DIR/$1") >"$scratch/out" 2>&1 </dev/null
	status=$?
	if [ $status -eq 77 ]; then
		skipped=$((skipped + 1))
		return
	fi
	[ $status -eq 0 ] || fail "$1: status $status"
	compare "${1%.sh}.out" "$scratch/out"
}

run_golden() {
	scratch=$(mktemp -d "${TMPDIR:-/tmp}/golden-XXXXXX") || exit 1
	trap 'rm -rf "$scratch"' EXIT
	trap 'exit 1' HUP INT TERM
	cd "$(dirname "$1")" || exit 1
	case $1 in
	*.cute)	golden_cute "$(basename "$1")" ;;
	*.sh)	golden_sh "$(basename "$1")" ;;
	esac
	echo "$passed passed, $failed failed, $skipped skipped"
	[ $failed -eq 0 ]
}

# ---- One job ----------------------------------------------------------------

# A program without a count of its own: 0 passes, 77 is skipped.
run_program() {
	limited "$@"
	case $? in
	0)	echo '1 passed, 0 failed, 0 skipped' ;;
	77)	echo '0 passed, 0 failed, 1 skipped' ;;
	*)	echo '0 passed, 1 failed, 0 skipped'; return 1 ;;
	esac
}

# both OTHER FILE: the digests of FILE that OTHER has, too, whatever they are.
both() {
	awk '{ name = $0; sub(/ [0-9a-f]*$/, "", name) }
	    FNR == NR { has[name] = 1; next }
	    name in has' "$1" "$2"
}

# A test file on a GPU; without one the command's status is 3.
# On both devices; then what each launch of tests/kernels wrote, bit by bit, but
# where the file says in its first lines why not: `// bits: REASON`.
run_gpu() {
	seconds=$((4 * seconds))	# an assembler for each member and test
	limited "$CUTEC" test --device=both "$1" 2>&1
	case $? in
	0) ;;
	3)	echo '0 passed, 0 failed, 1 skipped'; return ;;
	*)	return ;;
	esac
	case $1 in
	*tests/kernels/*) [ -z "$(directive bits "$1")" ] || return 0 ;;
	*) return 0 ;;
	esac
	bits=$(mktemp -d)
	trap 'rm -rf "$bits"' EXIT
	trap 'exit 1' HUP INT TERM
	for device in cpu gpu
	do
		limited "$CUTEC" test --device=$device --digests "$1" 2>&1 |
		    grep '^digest: ' >"$bits/$device"
	done
	# What was skipped on one of them has nothing to be compared with.
	both "$bits/gpu" "$bits/cpu" >"$bits/cpu.both"
	both "$bits/cpu" "$bits/gpu" >"$bits/gpu.both"
	echo "$(wc -l <"$bits/gpu.both") launches are compared bit by bit"
	diff "$bits/cpu.both" "$bits/gpu.both" | grep '^[<>]' | head -n 20
	cmp -s "$bits/cpu.both" "$bits/gpu.both" ||
	    echo "$1: executor and GPU differ in bits"
	cmp -s "$bits/cpu.both" "$bits/gpu.both"
}

# The language server, driven by a script in Python (PYTHON: which one).
run_lsp() {
	python=${PYTHON:-python3}
	if command -v "$python" >/dev/null 2>&1; then
		timeout -k 5 900 "$python" "$1" "$CUTEC"
	else
		echo "skipped: there is no $python"
		echo '0 passed, 0 failed, 1 skipped'
	fi
}

# corpus_of PROGRAM: the texts that are kept for a fuzzer.
corpus_of() {
	case $1 in
	*_elab|*_parser)	echo tests/fuzz/corpus/text ;;
	*_differ|*_lower)	echo tests/fuzz/corpus/program ;;
	*)			echo "tests/fuzz/corpus/${1##*fuzz_}" ;;
	esac
}

run_job() {
	cd "$SRCDIR" || exit 1
	case $1 in
	unit)		seconds=$((5 * seconds)); limited "$2" ;;
	api)		run_program "$2" ;;
	golden)		run_golden "$SRCDIR/$2" ;;
	cute)		launches=
			case $2 in examples/*) launches=--launches ;; esac
			limited "$CUTEC" test --device=cpu $launches "$2" ;;
	edges)		sh tests/edges.sh "$RESULTS" ;;
	embed)		cd "examples/$(basename "$2")" && run_program "$2" ;;
	lsp)		run_lsp "$2" ;;
	fuzz)		limited "$2" "$(corpus_of "$2")" ;;
	gpu)		run_gpu "$2" ;;
	esac
}

if [ "${1:-}" = --job ]; then
	# NUMBER KIND PATH, as list_jobs wrote them
	# shellcheck disable=SC2086
	set -- $2
	run_job "$2" "$3" >"$RESULTS/$1.log" 2>&1 </dev/null
	echo $? >"$RESULTS/$1.status"
	exit 0
fi

# ---- All of them ------------------------------------------------------------

# list KIND PATTERN...: a line for each file that is there.
list() {
	kind=$1
	shift
	for f
	do
		[ ! -e "$f" ] || echo "$kind $f"
	done
}

# list_one KIND FOLDER SOURCE: the program built from a source; one that was
# not built is seen as a failure.
list_one() {
	[ ! -e "$3" ] || echo "$1 $BUILDDIR/$2/$(basename "$3" .c)"
}

list_part() {
	case $1 in
	unit)
		if [ "${HAVE_CHECK:-yes}" = yes ]; then
			for f in tests/unit/check_*.c
			do
				list_one unit unit "$f"
			done
		fi ;;
	api)
		for f in tests/api/*.c
		do
			case $f in */fake_*.c) continue ;; esac
			list_one api api "$f"
		done ;;
	golden)		list golden tests/golden/*/*.cute tests/golden/*/*.sh |
			    grep -E -e "${CASES:-.}" ;;
	kernels)	list cute tests/kernels/*.cute ;;
	examples)
		list cute examples/*/*.cute
		for f in examples/*/*.c
		do
			list_one embed examples "$f"
		done ;;
	lsp)		list lsp tests/lsp/*.py ;;
	fuzz)
		for f in tests/fuzz/fuzz_*.c
		do
			list_one fuzz replay "$f"
		done ;;
	gpu)		list gpu examples/*/*.cute tests/kernels/*.cute ;;
	*)		echo "tests/run.sh: no part \"$1\"" >&2; exit 2 ;;
	esac
}

cd "$SRCDIR" || exit 1
RESULTS=$BUILDDIR/results
CUTEJIT_CACHE_DIR=$BUILDDIR/results/cache
export RESULTS CUTEJIT_CACHE_DIR
rm -rf "$RESULTS"
mkdir -p "$RESULTS" || exit 1
[ $# -gt 0 ] || set -- unit api golden kernels examples lsp fuzz
for part
do
	list_part "$part" || exit 2
done | awk '{ print NR, $0 }' >"$RESULTS/jobs"
if [ ! -s "$RESULTS/jobs" ]; then
	echo "tests/run.sh: nothing to run${CASES:+, no case fits $CASES}" >&2
	exit 2
fi

jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
tr '\n' '\0' <"$RESULTS/jobs" |
    xargs -0 -n 1 -P "${JOBS:-$jobs}" sh "$SRCDIR/tests/run.sh" --job

# What the launches of the examples were given, when all of them have run.
if grep -q ' cute examples/' "$RESULTS/jobs"; then
	last="$(($(wc -l <"$RESULTS/jobs") + 1)) edges examples/edges.md"
	echo "$last" >>"$RESULTS/jobs"
	sh "$SRCDIR/tests/run.sh" --job "$last"
fi

while read -r number kind path
do
	log=$RESULTS/$number.log
	count=$(grep -E '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$' \
	    "$log" | tail -n 1)
	status=$(cat "$RESULTS/$number.status" 2>/dev/null || echo none)
	# A job that died has failed once more than it counted.
	case $status,$count in
	*,)		count="0 passed, 1 failed" ;;
	0,*)		;;
	*', 0 failed'*)	count="$count died" ;;
	esac
	echo "$kind $path: $count"
	case $count in
	*', 0 failed, '*|*', 0 failed')
		case $count in *died*) ;; *) continue ;; esac ;;
	esac
	grep -v -E '^(launch: |pass |skip )' "$log" | sed 's/^/    /' | uniq |
	    tail -n 60
	echo "    status $status"
done <"$RESULTS/jobs" >"$RESULTS/summary"

awk '
	/^(unit|api|golden|cute|edges|embed|lsp|fuzz|gpu) / &&
	    / passed, / {
		kind = $1
		sub(/^.*: /, "")
		gsub(/,/, "")
		n[kind]++
		p[kind] += $1
		f[kind] += $3 + / died$/
		s[kind] += $5
	}
	END {
		split("unit api golden cute edges embed lsp fuzz gpu", order,
		    " ")
		for (i = 1; i in order; i++) {
			k = order[i]
			if (n[k] > 0)
				printf "%-8s %4d files: %d passed, %d failed" \
				    ", %d skipped\n", k, n[k], p[k], f[k], s[k]
			passed += p[k]
			failed += f[k]
			skipped += s[k]
		}
		printf "%d passed, %d failed, %d skipped\n", passed, failed,
		    skipped
		exit failed > 0
	}' "$RESULTS/summary" >"$RESULTS/total"
status=$?

# What failed stands above the counts.
kinds='unit|api|golden|cute|edges|embed|lsp|fuzz|gpu'
grep -v -E "^($kinds) .*: [0-9]+ passed, 0 failed(, [0-9]+ skipped)?\$" \
    "$RESULTS/summary"
[ "${V:-0}" != 1 ] || grep -E ' passed, ' "$RESULTS/summary"
grep -h '^skipped: ' "$RESULTS"/*.log | sort -u
cat "$RESULTS/total"
exit $status
