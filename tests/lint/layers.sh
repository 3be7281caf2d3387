#!/bin/sh
# Who may include whom: a line for each #include that goes upwards, or that
# shows LLVM or CUDA where they must not be seen. Run in the root.

set -u

# may FILE LAYER HEADER: may this file of that layer include it?
may() {
	file=$1
	from=$2
	header=$3
	to=${header%%/*}
	[ "$from" != "$to" ] || return 0
	case $from:$to in
	base:*)				return 1 ;;
	lexer:base)			;;
	parser:base|parser:lexer)	;;
	layout:base)			;;
	ir:base|ir:layout)		;;
	ir:parser|ir:std)	# elaboration walks trees, nothing else does
		case $(basename "$file") in
		elab*)	;;
		*)	return 1 ;;
		esac ;;
	codegen:base|codegen:ir)	;;
	codegen:layout)			[ "$header" = layout/atoms.def ] ;;
	std:base)			;;
	runtime:base|runtime:lexer|runtime:layout|runtime:parser)	;;
	runtime:ir|runtime:codegen|runtime:std)	;;
	cutec:parser|cutec:ir|cutec:std)	# formatter, language server:
		case $(basename "$file"):$header in	# words to complete
		*:parser/parser.h|lsp*:*.def|lsp*:std/std.h)	;;
		*)	return 1 ;;
		esac ;;
	cutec:base)	# whole files
		[ "$header" = base/file.h ] ;;
	cutec:layout)	# the calculator, and its pictures
		case $header in
		layout/layout.h|layout/layout_draw.h)	;;
		*)	return 1 ;;
		esac ;;
	*)				return 1 ;;
	esac
}

# The names of the headers a file includes, with their line and bracket.
includes() {
	sed -n 's/^[ \t]*#[ \t]*include[ \t]*\(["<]\)\([^">]*\)[">].*/\1 \2/p' \
	    "$1"
}

find src -name '*.[chly]' | sort | while read -r file
do
	path=${file#src/}
	layer=${path%%/*}
	includes "$file" | while read -r bracket header
	do
		case $bracket$header in
		'<llvm'*)
			case $path in
			codegen/llvm*|base/hash.c)	;;
			*)	echo "$file: includes <$header>" ;;
			esac ;;
		'<cuda'*|'<nv'*)
			echo "$file: includes <$header>" ;;
		'<'*)	;;
		'"cutejit.h'|'"version.h')
			case $layer in
			runtime|cutec)	;;
			*)	echo "$file: includes \"$header\"" ;;
			esac ;;
		*/*)	may "$file" "$layer" "$header" ||
				echo "$file: layer $layer must not include" \
				    "\"$header\"" ;;
		esac
	done
done

# Memory of the compiler comes from arenas.
grep -nE '(^|[^_[:alnum:]])(malloc|calloc|realloc|strdup|strndup|asprintf)\(' \
    src/lexer/*.[ch] src/parser/*.[ch] src/layout/*.[ch] 2>/dev/null |
    sed 's/^\([^:]*:[0-9]*\):.*/\1: memory that is not an arena'\''s/'
