# What bash offers, as it cuts words: at '=' and ',' too.
command -v bash >/dev/null || exit 77
"$CUTEC" completion bash > completion
"$CUTEC" completion
mkdir folder
: > kernel.cute
cat > offers <<'END'
source ./completion
compopt() { [ "$2" = filenames ] && echo "(files)"; :; }
offer() {
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	_cutec
	echo "$*: ${COMPREPLY[*]}"
}
offer cutec ''
offer cutec t
offer cutec run --de
offer cutec run --device =
offer cutec run --device = c
offer cutec test --device = ''
offer cutec test --check = bounds,
offer cutec compile --arch = sm_80,sm_1
offer cutec compile --emit = p
offer cutec compile -O
offer cutec compile -M
offer cutec compile -o k
offer cutec compile -I ''
offer cutec compile -k ''
offer cutec compile ker
offer cutec tune --device
offer cutec cache p
offer cutec explain unknown-k
offer cutec targets ''
complete -p cutec
END
bash --norc offers
