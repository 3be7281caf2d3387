#!/bin/sh
# Write C that holds the given files: embed.sh FILE.cute... >std_data.c
set -eu
LC_ALL=C
export LC_ALL

cat <<'C'
/* The standard library as data, made by src/std/embed.sh. */
#include "std/std.h"

C
i=0
for f
do
	echo "static const char text_${i}[] = {"
	od -An -v -tx1 "$f" | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g
		s/0x\([89a-f][0-9a-f]\),/(char)0x\1,/g'
	echo '0 };'
	i=$((i + 1))
done
echo 'const struct cj_std_file cj_std_files[] = {'
i=0
for f
do
	echo "	{ \"$(basename "$f")\", text_$i, sizeof text_$i - 1 },"
	i=$((i + 1))
done
echo '	{ 0, 0, 0 }'
echo '};'
echo "const unsigned cj_std_count = $i;"
