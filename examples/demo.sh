#!/bin/sh
# make demo: test the examples and run some of them, on the executor and, where
# there is one, on the GPU. Every command is shown before it runs, so that it
# can be repeated by hand. SRCDIR and CUTEC come from the Makefile.

set -u
cd "$SRCDIR/examples" || exit 1
work=$(mktemp -d "${TMPDIR:-/tmp}/cutec-demo-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
failed=0

show() {
	printf '\n$ cutec'
	for word
	do
		case $word in
		*[\(\)\ ]*)	printf " '%s'" "$word" ;;
		*)		printf ' %s' "$word" ;;
		esac
	done
	printf '\n'
	"$CUTEC" "$@" || {
		echo "  (status $?)"
		failed=$((failed + 1))
	}
}

echo '== What this machine offers'
show doctor

echo
echo '== The tests of every example, with real data'
for file in */*.cute
do
	show test "$file"
done

echo
echo '== Kernels on data from the command line'
show run relu/relu.cute T=f32 'x=normal(f32,row_major(4,8),seed=1)' \
    'y=empty(f32,row_major(4,8))' --print x --print y
show run relu/relu.cute T=f16 'x=normal(f16,row_major(512,1024),seed=2)' \
    'y=empty(f16,row_major(512,1024))' --out "y=@$work/relu.npy"

echo
echo '== ... and from the file that the last one wrote'
show run gelu/gelu.cute T=f16 "x=@$work/relu.npy" \
    'y=empty(f16,row_major(512,1024))' --out "y=@$work/gelu.npy"
ls -l "$work"

echo
if [ $failed -eq 0 ]; then
	echo 'demo: everything passed'
else
	echo "demo: $failed commands failed"
	exit 1
fi
