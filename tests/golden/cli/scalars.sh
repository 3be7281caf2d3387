# Scalars of cutec run are expressions of the language; what does not fit its
# type is refused. An array that is too large is a matter of memory.
cat > k.cute <<'END'
const five = 5;
kernel put(y: tensor(f64, 4:1), a: f32 = 1, n: i32 = 2, q: bool = false, u: u64 = 3)
{
    launch grid(1) block(1) { y[0] = f64(a); y[1] = f64(n); y[2] = if q { f64(1) } else { f64(0) }; y[3] = f64(u); }
}
END
for x in a=0.5 a=0x10 'a=f32(1) / 4' a=-inf a=none n=five 'n=five * 2 - 1' n=-2147483648 q=true 'q=1 < 2' \
    u=18446744073709551615 a=1e400 a=true a= a=nobody n=2147483648 n=1.5 u=-1 q=1
do
	echo "$x"
	"$CUTEC" run k.cute 'y=empty(f64, 4)' "$x" --print y --device=cpu 2>&1 | grep -v ' ms$'
done
"$CUTEC" run k.cute 'y=empty(f64, 1099511627776)' --device=cpu
echo "status $?"
