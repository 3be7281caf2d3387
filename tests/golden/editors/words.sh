#!/bin/sh
# Every word and type of the language is known to both syntax files.
src=$SRCDIR/src
{
	sed -n 's/^WORD([A-Z]*,[ \t]*"\([a-z]*\)".*/\1/p' "$src/lexer/token.def"
	sed -n 's/^KIND([A-Z0-9]*,[ \t]*"\([a-z0-9]*\)".*/\1/p' \
	    "$src/ir/type.def"
} >words
[ "$(wc -l <words)" -gt 50 ] || echo 'the tables cannot be read'
while read -r word
do
	grep -q -w -e "$word" "$SRCDIR/editors/vim/syntax/cute.vim" ||
	    echo "vim does not know $word"
	# i8 and its like are one pattern there
	case $word in
	i[0-9]*|u[0-9]*)	continue ;;
	esac
	grep -q -E "[|(]${word}[|)\\\\]" \
	    "$SRCDIR/editors/vscode/syntaxes/cute.tmLanguage.json" ||
	    grep -q -E "${word}[)\\\\]|extern.*$word" \
	    "$SRCDIR/editors/vscode/syntaxes/cute.tmLanguage.json" ||
	    echo "VS Code does not know $word"
done <words
command -v node >/dev/null || exit 0
node --check "$SRCDIR/editors/vscode/extension.js" || echo 'extension.js'
