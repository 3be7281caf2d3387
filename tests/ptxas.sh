#!/bin/sh
# Assemble the PTX of every example for every target that it admits.
#
# SRCDIR and BUILDDIR say where; PTXAS names ptxas, else it is looked for in
# the path and in CUDA_HOME. Without it everything is skipped. A program that
# refuses a target (status 1) does not admit it; every program must admit one.
# Warnings of ptxas count as failures. Ends with the usual count.

set -u
LC_ALL=C
export LC_ALL
CUTEC=$BUILDDIR/cutec
targets='sm_80 sm_86 sm_89 sm_90a sm_100a sm_103a sm_120a'

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

# The values that a program asks for behind `// compile:` in its first lines.
compile_any() {
	options=$(sed -n '1,5s,^// compile: ,,p' "$1")
	eval "compile \"\$1\" \"\$2\" $options"
}

# assemble FILE TARGET: 1 if the program does not admit the target.
assemble() {
	rm -rf "$work/ptx"
	mkdir "$work/ptx"
	compile_any "$1" "$2"
	case $? in
	0)	;;
	1)	return 1 ;;
	*)	fail "$1 for $2: cutec"; head -n 5 "$work/log"; return 0 ;;
	esac
	for ptx in "$work"/ptx/*.ptx
	do
		if "$PTXAS" "-arch=$2" "$ptx" -o "$work/out.cubin" \
		    >"$work/log" 2>&1 && [ ! -s "$work/log" ]; then
			passed=$((passed + 1))
		else
			fail "$1 for $2: ptxas, ${ptx##*/}"
			head -n 5 "$work/log"
		fi
	done
}

cd "$SRCDIR" || exit 1
for file in examples/*/*.cute tests/kernels/*.cute
do
	[ -e "$file" ] || continue
	grep -q '^kernel ' "$file" || continue
	admits=no
	for target in $targets
	do
		if assemble "$file" "$target"; then
			admits=yes
		fi
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
