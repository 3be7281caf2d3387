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

fail() {
	echo "FAIL $*"
	failed=$((failed + 1))
}

# assemble FILE TARGET: 1 if the program does not admit the target.
assemble() {
	"$CUTEC" compile "--emit=ptx=$work/out.ptx" "--arch=$2" "$1" \
	    >"$work/log" 2>&1
	case $? in
	0)	;;
	1)	return 1 ;;
	*)	fail "$1 for $2: cutec"; head -n 5 "$work/log"; return 0 ;;
	esac
	if "$PTXAS" "-arch=$2" "$work/out.ptx" -o "$work/out.cubin" \
	    >"$work/log" 2>&1 && [ ! -s "$work/log" ]; then
		passed=$((passed + 1))
	else
		fail "$1 for $2: ptxas"
		head -n 5 "$work/log"
	fi
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
	if [ $admits = no ]; then
		fail "$file: admits no target"
		head -n 5 "$work/log"
	fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
