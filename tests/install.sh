#!/bin/sh
# Build and run the examples as users do, against an installed tree:
# install.sh PREFIX LIBDIR
#
# C99 with all warnings, C++17 where there is a compiler, shared and static,
# each in its own folder by what pkg-config says. The header alone is compiled
# as C99 and C++17.

set -u
LC_ALL=C
export LC_ALL
prefix=$1
libdir=$2
source=$(cd "$(dirname "$0")/.." && pwd)
PKG_CONFIG_PATH=$libdir/pkgconfig
LD_LIBRARY_PATH=$libdir
CUTEJIT_CACHE=memory
export PKG_CONFIG_PATH LD_LIBRARY_PATH CUTEJIT_CACHE
work=$(mktemp -d "${TMPDIR:-/tmp}/install-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
passed=0
failed=0
skipped=0

# count NAME COMMAND...: by its status
count() {
	name=$1
	shift
	if "$@" >"$work/log" 2>&1; then
		passed=$((passed + 1))
	else
		echo "FAIL $name"
		sed 's/^/    /' "$work/log" | tail -n 20
		failed=$((failed + 1))
	fi
}

# build_and_run COMPILER SOURCE EXTRA...: in the source's folder
build_and_run() {
	cd "$(dirname "$2")" || return 1
	compiler=$1
	file=$2
	shift 2
	# shellcheck disable=SC2046,SC2086
	$compiler -Wall -Wextra -Werror "$file" -o "$work/program" \
	    $(pkg-config --cflags cutejit) "$@" -lpthread -ldl &&
	    timeout 120 "$work/program"
}

if ! command -v pkg-config >/dev/null; then
	echo 'skipped: there is no pkg-config'
	echo '0 passed, 0 failed, 1 skipped'
	exit 0
fi
cc=${CC:-cc}
cxx=${CXX:-c++}
for file in "$source"/examples/*/*.c
do
	name=$(basename "$file")
	# shellcheck disable=SC2046
	count "$name" build_and_run "$cc -std=gnu99" "$file" \
	    $(pkg-config --libs cutejit)
done
file=$source/examples/saxpy/saxpy.c
libs=$(pkg-config --static --libs cutejit | sed 's|-lcutejit|-l:libcutejit.a|')
# shellcheck disable=SC2086
count 'saxpy.c, static' build_and_run "$cc -std=gnu99" "$file" $libs
echo '#include <cutejit.h>' >"$work/header.c"
cp "$work/header.c" "$work/header.cc"
# shellcheck disable=SC2046
count 'the header as C99' $cc -std=c99 -pedantic -Wall -Wextra -Werror \
    $(pkg-config --cflags cutejit) -c "$work/header.c" -o "$work/header.o"
if command -v "${cxx%% *}" >/dev/null; then
	# shellcheck disable=SC2046
	count 'the header as C++17' $cxx -std=c++17 -pedantic -Wall -Wextra \
	    -Werror $(pkg-config --cflags cutejit) -c "$work/header.cc" \
	    -o "$work/header.o"
	for file in "$source"/examples/*/*.cc
	do
		name=$(basename "$file")
		# shellcheck disable=SC2046
		count "$name" build_and_run "$cxx -std=c++17" "$file" \
		    $(pkg-config --libs cutejit)
	done
else
	echo 'skipped: there is no C++ compiler'
	skipped=$((skipped + 1))
fi
count 'the command' "$prefix/bin/cutec" --version

# completes SHELL FILE: what was installed for a shell is what it should be.
completes() {
	"$prefix/bin/cutec" completion "$1" | cmp - "$prefix/share/$2"
}

count 'completion in bash' completes bash bash-completion/completions/cutec
count 'completion in zsh' completes zsh zsh/site-functions/_cutec
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
