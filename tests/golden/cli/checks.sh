# --check=LIST: the named checks alone, none of them, and names that are none.
cat > c.cute <<'END'
kernel k(x: tensor(f32, N:1), n: int, y: tensor(f32, 64:1))
{
    launch grid(1) block(64) {
        shared s: tensor(f32, 1);
        x[n + 8] = 1.0;
        x[0] = y[1];
        s[0] = f32(thread_idx.x);
    }
}
test "t" { let x = empty(f32, 8:1); launch k(x, 0, empty(f32, 64:1)); }
END
for list in all none bounds race written bounds,written,barrier foo bounds,foo
do
	echo "--check=$list"
	"$CUTEC" test c.cute --device=cpu --check="$list" 2>&1 |
	    grep -oE '\[[a-z-]+\]$|cutec: error: .*|[0-9]+ passed.*' | uniq
done
