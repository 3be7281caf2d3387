#!/bin/sh
# Assemble the PTX of every example for every target that it admits.
#
# SRCDIR and BUILDDIR say where; PTXAS names ptxas, else it is looked for in
# the path and in CUDA_HOME. Without it everything is skipped. A program that
# refuses a target (status 1) does not admit it; every program must admit one.
# Warnings of ptxas count as failures, spills too where warpgroups multiply and
# where a program says `// spills: none`. FILES, a pattern, names
# other programs, TARGETS other targets. Ends with the usual count.

set -u
LC_ALL=C
export LC_ALL
CUTEC=$BUILDDIR/cutec
targets=${TARGETS:-'sm_80 sm_86 sm_89 sm_90a sm_100a sm_103a sm_120a'}

PTXAS=${PTXAS:-$(command -v ptxas ||
    command -v "${CUDA_HOME:-/usr/local/cuda}/bin/ptxas")}
if [ -z "$PTXAS" ]; then
	echo 'ptxas is not here: no PTX was assembled'
	echo '0 passed, 0 failed, 1 skipped'
	exit 0
fi
if [ ! -x "$CUTEC" ]; then
	echo "there is no $CUTEC"
	echo '0 passed, 1 failed, 0 skipped'
	exit 1
fi
"$PTXAS" --version | tail -n 1

work=$(mktemp -d "${TMPDIR:-/tmp}/ptxas-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
CUTEJIT_CACHE_DIR=$work/cache
export CUTEJIT_CACHE_DIR
passed=0
failed=0
skipped=0

fail() {
	echo "FAIL $*"
	failed=$((failed + 1))
}

# compile FILE TARGET [OPTION]...
compile() {
	file=$1
	target=$2
	shift 2
	"$CUTEC" compile "--emit=ptx=$work/ptx/out.ptx" "--arch=$target" \
	    "$@" "$file" >"$work/log" 2>&1
}

# Ways to compile a program: options behind `// compile:` in its first lines,
# a way each; without one, a way with none.
ways() {
	sed -n '1,9s,^// compile: ,,p' "$1" | grep . || echo ''
}

# assemble FILE TARGET OPTIONS: 1 if the program does not admit the target.
# Spills are as wrong as warnings where the program must have none.
assemble() {
	rm -rf "$work/ptx"
	mkdir "$work/ptx"
	eval "compile \"\$1\" \"\$2\" $3"
	case $? in
	0)	;;
	1)	return 1 ;;
	*)	fail "$1 for $2: cutec"; head -n 5 "$work/log"; return 0 ;;
	esac
	for ptx in "$work"/ptx/*.ptx
	do
		if ! "$PTXAS" -v "-arch=$2" "$ptx" -o "$work/out.cubin" \
		    >"$work/log" 2>&1 ||
		    grep -v -e '^ptxas info' -e '^    0 bytes stack' \
			-e ' bytes cumulative stack' -e spill "$work/log" |
			grep .
		then
			fail "$1 for $2: ptxas, ${ptx##*/} $3"
			head -n 5 "$work/log"
		elif grep -q -e ' [1-9][0-9]* bytes spill' "$work/log" &&
		    grep -q -e '^import "cute/hopper.cute"' \
			-e '^// spills: none$' "$1"
		then
			fail "$1 for $2: spills, ${ptx##*/} $3"
		else
			passed=$((passed + 1))
		fi
	done
}

cd "$SRCDIR" || exit 1
for file in ${FILES:-examples/*/*.cute tests/kernels/*.cute}
do
	[ -e "$file" ] || continue
	grep -q '^kernel ' "$file" || continue
	admits=no
	for target in $targets
	do
		while read -r way
		do
			if assemble "$file" "$target" "$way"; then
				admits=yes
			fi
		done <<-WAYS
			$(ways "$file")
		WAYS
	done
	if [ $admits = no ] && grep -q 'needs a value' "$work/log"; then
		echo "$file: what it needs is not in its text"
		skipped=$((skipped + 1))
	elif [ $admits = no ]; then
		fail "$file: admits no target"
		head -n 5 "$work/log"
	fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
