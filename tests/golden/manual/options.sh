# cutec(1) has the options of all commands, and no other; it or libcutejit(3)
# has the variables of the environment that the sources ask for.
sed 's/\\f[BIRP]//g; s/\\-/-/g' "$SRCDIR/man/cutec.1" >page
for command in $("$CUTEC" --help | sed -n 's/^  \([a-z]*\) .*/\1/p')
do
	"$CUTEC" "$command" --help
done | grep -oE '^  (-[a-z], )?--[a-z-]+' | sed 's/.*--//' |
    grep -vx -e help -e stdio | sort -u >taken
grep -oE '(^|[^-a-z])--[a-z][a-z-]*' page | sed 's/.*--//' |
    grep -vx -e help -e stdio | sort -u >described
diff taken described && echo same
cat "$SRCDIR"/src/*/*.c | grep -oE '"CUTE(JIT|C)_[A-Z_]+"' | tr -d '"' |
    sort -u | while read -r name
do
	cat page "$SRCDIR/man/libcutejit.3" | grep -q "$name" ||
	    echo "$name is in no page"
done
for command in $("$CUTEC" --help | sed -n 's/^  \([a-z]*\) .*/\1/p')
do
	grep -q "^\.SS $command" page || grep -qE "cutec $command" page ||
	    echo "$command is in no page"
done
