# Bodies are repeated as asked, products and collectives too, and not more.
count() {
	printf '%s: %s\n' "$1" "$(grep -c -- "$2" k.ptx)"
}
cp "$SRCDIR/tests/kernels/unroll.cute" .
for n in 1 2 3 7
do
	"$CUTEC" compile unroll.cute -k known -D N=$n --arch=sm_80 --emit=ptx=k.ptx
	count "seven products by $n" 'mma\.sync'
	"$CUTEC" compile unroll.cute -k counted -D N=$n --arch=sm_80 \
	    --emit=ptx=k.ptx
	count "unknown number by $n, and the rest" 'shfl\.sync'
done
