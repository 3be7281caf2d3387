#!/bin/sh
# Check what --static-llvm promises: static.sh CUTEC LIBCUTEJIT.SO
#
# One stripped command of at most 60 MB that needs no libLLVM and no more than
# glibc 2.35; a library that exports nothing but its own interface.

set -u
LC_ALL=C
export LC_ALL
passed=0
failed=0

expect() {
	if [ -z "$2" ]; then
		passed=$((passed + 1))
	else
		echo "FAIL $1: $2"
		failed=$((failed + 1))
	fi
}

size=$(wc -c <"$1")
expect 'size of the command' \
    "$([ "$size" -le 60000000 ] || echo "$size bytes")"
expect 'symbols in the command' "$(nm "$1" 2>/dev/null | head -n 3)"
for file in "$1" "$2"
do
	expect "libraries of $file" "$(objdump -p "$file" |
	    sed -n 's/^ *NEEDED *//p' |
	    grep -v -E '^(libc|libm|libdl|librt|libpthread|ld-linux.*)\.so' |
	    tr '\n' ' ')"
	expect "glibc of $file" "$(objdump -T "$file" | sed -n \
	    's/.*GLIBC_2\.\([0-9]*\).* \([^ ]*\)$/\1 \2/p' |
	    awk '$1 > 35 { printf "%s needs 2.%d ", $2, $1 }')"
done
expect 'names in the library' "$(nm -D --defined-only "$2" |
    awk '$NF !~ /^(cutejit_|CUTEJIT_)/ { print $NF }' | head -n 3)"
expect 'the command runs' "$("$1" --version >/dev/null 2>&1 ||
    echo "status $?")"

echo "static build: $size bytes"
echo "$passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
