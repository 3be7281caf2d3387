#!/bin/sh
# Check what a compiler does not: layers, names, widths, lengths, words.
#
# Called by `make lint` with SRCDIR and BUILDDIR. Errors make it fail;
# warnings name what is worth a second look. The last line counts both.

set -u
LC_ALL=C
export LC_ALL
cd "$SRCDIR" || exit 1
work=$BUILDDIR/lint
mkdir -p "$work" || exit 1
: >"$work/errors"
: >"$work/warnings"

# Read lines of complaints into one of the two files.
errors() {
	cat >>"$work/errors"
}

warnings() {
	cat >>"$work/warnings"
}

ours=$(find src tests examples -name '*.[chly]' ! -path 'tests/vectors/*' |
    sort)
sources=$(find src -name '*.c' | sort)
tables=$(find src -name '*.def' | sort)
scripts=$(find configure .ci tests src examples man -type f \
    \( -name configure -o -name '*.sh' -o -path '.ci/*' \) \
    ! -path 'tests/golden/*' 2>/dev/null | sort)

# ---- Layers -----------------------------------------------------------------

sh tests/lint/layers.sh | errors

# ---- Text -------------------------------------------------------------------

# What a merge has left behind, in any text.
grep -rnE '^(<{7}|={7}|>{7})( |$)' README configure Makefile .ci editors \
    examples man src tests 2>/dev/null | grep -v '^tests/golden/' |
    sed 's/:.*/: a conflict is not resolved/' | errors

# What examples/README says of the lengths of programs: lines without blanks and
# comments.
# shellcheck disable=SC2016
sed -n 's/^| `\([a-z0-9_]*\)` | \([0-9]*\) | [0-9,]* |$/\1 \2/p' \
    examples/README |
    while read -r name said; do
	lines=$(grep -vcE '^[[:space:]]*(//.*)?$' "examples/$name/$name.cute")
	[ "$lines" -eq "$said" ] || echo "examples/README: $name has $lines" \
	    "lines, not $said"
    done | errors

# Width counts characters; a tab goes to the next multiple of eight. Rules of
# the scanner and the grammar are tables, and may be wider.
# shellcheck disable=SC2086
awk '
	function complain(text) {
		printf "%s:%d: %s\n", FILENAME, FNR, text
	}
	{
		line = $0
		gsub(/[\200-\277]/, "", line)
		width = 0
		n = split(line, part, "\t")
		for (i = 1; i < n; i++)
			width = int((width + length(part[i])) / 8) * 8 + 8
		width += length(part[n])
		if (width > (FILENAME ~ /\.[ly]$/ ? 100 : 80))
			complain("wider than 80 columns (" width ")")
	}
	/[ \t]$/ { complain("blanks at the end of the line") }
	/^\t* {8}/ && FILENAME ~ /\.[chly]$/ {
		complain("indented by blanks, not tabs")
	}
' $ours $scripts Makefile | errors

word='TO''DO|FIX''ME|XX''X'
# shellcheck disable=SC2086
grep -n -E "\\b($word)\\b" $ours $tables $scripts Makefile README \
    src/*/README 2>/dev/null | sed 's/$/  (unfinished)/' | errors

# ---- Messages ---------------------------------------------------------------

# Each code is printed in some golden file, or asked for in a unit or API test.
grep -rhoE '\[[a-z0-9-]+\]$' tests/golden --include='*.err' --include='*.out' |
    tr -d '[]' | sort -u >"$work/codes"
sed -nE 's/^DIAG\(([A-Z0-9_]+), "([a-z0-9-]+)".*/\1 \2/p' src/base/diag.def |
    while read -r row code
do
	grep -qx "$code" "$work/codes" ||
	    grep -rqE "\"$code\"|CJ_DIAG_${row}[^A-Z_]" tests/unit tests/api ||
	    echo "diag.def: no test expects [$code]"
done | errors

# ---- Files ------------------------------------------------------------------

# The public header is one file, most of it what its functions promise.
# shellcheck disable=SC2086
wc -l $ours | awk '$2 != "total" && $2 !~ /gram\.y$|cutejit\.h$/ && $1 > 1000 {
	print $2 ": " $1 " lines, at most 1000"
}' | errors
# shellcheck disable=SC2086
wc -l $ours | awk '$2 != "total" && $2 !~ /gram\.y$/ && $1 > 800 \
    && $1 <= 1000 { print $2 ": " $1 " lines: is there a second subject?" }' |
    warnings

find src -name '*.c' | sed 's|.*/||' | sort | uniq -d |
    sed 's/$/: two source files have this name/' | errors

for folder in src/*/
do
	folder=${folder%/}
	name=${folder#src/}
	ls "$folder"/*.[chly] >/dev/null 2>&1 || continue
	[ -f "$folder/README" ] || echo "$folder: no README" | errors
	case $name in
	cutec)	continue ;;
	ir)		front=ir.h ;;
	runtime)	front=runtime.h ;;
	*)		front=$name.h ;;
	esac
	[ -f "$folder/$front" ] || echo "$folder: no front header $front" |
	    errors
done

sh tests/lint/readmes.sh | errors
sh tests/lint/manuals.sh | errors

# Every file begins by saying what it is about.
for f in $ours
do
	case $(head -n 1 "$f") in
	'/*'*|'%{'*|'%'*|'//'*)	;;
	*)	echo "$f:1: no comment at the head of the file" ;;
	esac
done | errors

# ---- Functions --------------------------------------------------------------

# From the brace in the first column to the one that closes it.
# shellcheck disable=SC2086
awk '
	FNR == 1 { name = "" }
	/^[a-z_][A-Za-z0-9_]*\(/ { name = $0; sub(/\(.*/, "", name) }
	/^\{/ { start = FNR }
	/^\}/ && name != "" {
		n = FNR - start - 1
		all++
		short += n <= 15
		usual += n <= 45
		if (n > 90)
			printf "%s:%d: %s has %d lines\n", FILENAME, start,
			    name, n
		name = ""
	}
	END {
		if (all > 0)
			printf "functions: %d, %d%% up to 15 lines, %d%% up " \
			    "to 45\n", all, 100 * short / all,
			    100 * usual / all >"/dev/stderr"
	}
' $sources | warnings

for folder in layout ir codegen
do
	cat src/$folder/*.c 2>/dev/null | awk -v folder="$folder" '
		/assert\(/ { n++ }
		END {
			if (NR > 300 && n * 1000 < NR * 10)
				printf "src/%s: %d assertions in %d lines, " \
				    "10 in 1000 are wanted\n", folder, n, NR
		}' | warnings
done

# ---- Programs ---------------------------------------------------------------

# A build with warnings as errors, by each compiler that is there. What it
# makes is looked at below.
build_with() {
	mkdir -p "$work/$1"
	(
		cd "$work/$1" &&
		"$SRCDIR/configure" "CC=$1" CFLAGS=-O2 --enable-debug \
		    --enable-werror --with-llvm="$LLVM_CONFIG" &&
		make -j"$(getconf _NPROCESSORS_ONLN)" all test-programs \
		    bench-programs
	) >"$work/$1.log" 2>&1 || {
		grep -E 'error|Error' "$work/$1.log" | head -n 20
		echo "build with $1 and -Werror failed, see $work/$1.log"
	}
}

looked_at=
for compiler in gcc clang
do
	if command -v $compiler >/dev/null 2>&1; then
		build_with $compiler | errors
		looked_at="$looked_at $compiler"
	fi
done
echo "compilers with -Werror:$looked_at"

built=$work/${looked_at##* }/build
if [ -f "$built/libcutejit.a" ]; then
	# Names that other files see; and variables that are written.
	nm -A --defined-only -g "$built/libcutejit.a" 2>/dev/null |
	    awk '$NF !~ /^(cj_|cutejit_|arc4random$|__)/ {
		print $1 " " $NF ": extern without cj_ or cutejit_"
	    }' | errors
	objdump -t "$built/libcutejit.a" 2>/dev/null | awk '
		/file format/ { file = $1; sub(/:$/, "", file) }
		/ O \.(data|bss)/ && !/\.data\.rel\.ro/ {
			name = $NF
			# the end of the process, and the handlers of LLVM,
			# are one for all contexts
			if (file ~ /generate\.o$/ && name == "running" ||
			    file ~ /llvm_guard\.o$/ && name == "guards")
				next
			if (file !~ /_api\.o$/ && name !~ /once$/)
				print file ": " name \
				    ": a writable file-scope variable"
		}' | errors
fi
if [ -f "$built/libcutejit.so" ]; then
	nm -D --defined-only "$built/libcutejit.so" |
	    awk '$NF !~ /^(cutejit_|CUTEJIT_)/ {
		print "libcutejit.so exports " $NF
	    }' | errors
fi

# ---- Other people's tools ---------------------------------------------------

if command -v cppcheck >/dev/null 2>&1; then
	cppcheck -q --std=c11 --enable=portability --inline-suppr \
	    --suppressions-list=tests/lint/cppcheck.supp \
	    -j "$(getconf _NPROCESSORS_ONLN)" -D_GNU_SOURCE -Isrc \
	    --template='{file}:{line}: {message} [{id}]' src 2>&1 | errors
	echo 'cppcheck: used'
fi
if command -v shellcheck >/dev/null 2>&1; then
	# shellcheck disable=SC2086
	shellcheck -S warning $scripts 2>&1 | errors
	echo 'shellcheck: used'
fi

# ---- Answer -----------------------------------------------------------------

sed 's/^/warning: /' "$work/warnings"
sed 's/^/error: /' "$work/errors"
e=$(wc -l <"$work/errors")
echo "lint: $e errors, $(wc -l <"$work/warnings") warnings"
[ "$e" -eq 0 ]
