# Every name that the language declares has its form in words.def, and stands in
# cute(7) or cute-layout(7); so do the words of the language, the choices of
# arguments, and arguments by name.
ir=$SRCDIR/src/ir
cat "$SRCDIR/man/cute.7" "$SRCDIR/man/cute-layout.7" |
    sed 's/\\f[BIRP]//g; s/\\-/-/g; s/\\&//g' >pages
names() {
	sed -nE 's/^(BUILTIN|EACH|VALUE)\(([a-z0-9_]+),?.*/\2/p' "$ir/builtins.def"
}
named() {
	sed -nE 's/^BUILTIN\([^"]*"([a-z ]*)".*/\1/p' "$ir/builtins.def" |
	    tr ' ' '\n' | grep .
}
words() {
	sed -nE 's/^WORD_OF\([A-Z]+, "([^"]+)".*/\1/p
	    s/^(MEMBERS|CHOICES)\("[a-z_]+", "(.*)"\)$/\2/p' "$ir/words.def" |
	    tr ' ' '\n'
}
sed -nE 's/^ABOUT\("([a-z0-9_]+)".*/\1/p' "$ir/words.def" | sort >forms
names | sort | diff - forms && echo "each has a form"
{ names; named; words; } | sort -u | while read -r word
do
	grep -qE "(^|[^a-zA-Z0-9_])$word([^a-zA-Z0-9_]|\$)" pages ||
	    echo "$word is in no page"
done
