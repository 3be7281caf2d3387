# What zsh is told to offer: the functions of its library are ours here.
command -v zsh >/dev/null || exit 77
"$CUTEC" completion zsh > _cutec
cat > offers <<'END'
_describe() { echo "describe ${#commands} commands, ${commands[2]}"; }
_arguments() { print -rl -- "$@"; }
offer() {
	words=("$@")
	CURRENT=$#
	echo "$*:"
	source ./_cutec
}
offer cutec ''
offer cutec cache ''
offer cutec lsp ''
offer cutec fmt ''
offer cutec tune ''
END
zsh -f offers
