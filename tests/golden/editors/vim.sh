#!/bin/sh
# vim: indentation is that of `cutec fmt`, and words have their colours.
command -v vim >/dev/null && vim --version | grep -q '+syntax' || exit 77

edit() {
	HOME=$PWD vim -Nu NONE -n -es --cmd "set rtp^=$SRCDIR/editors/vim" \
	    -c 'filetype plugin indent on' -c 'syntax on' "$@" </dev/null \
	    >/dev/null 2>&1
}

for f in "$SRCDIR"/examples/[ar]*/*.cute
do
	$CUTEC fmt - <"$f" >wanted.cute
	sed 's/^[ \t]*//' wanted.cute >found.cute
	edit -c 'edit found.cute' -c 'normal gg=G' -c 'wq'
	cmp -s wanted.cute found.cute || {
		echo "$(basename "$f"): other indentation"
		diff wanted.cute found.cute
	}
done

cat >colours.cute <<'CUTE'
import "x.cute" as x; // comment
kernel relu(const T: type in {f16} = f16, x: tensor(T, (M, _))) target sm_80 {
    launch grid(1) block(2) { shared s: tensor(f32, 8:1); time = launch.x + 0x1f; }
}
test "a \" b" over n in 0..3 { let y = load(t, scope = .gpu) * 1.5e3; }
extern cuda { __device__ int f(int x) { return x; } }
CUTE
cat >show.vim <<'VIM'
let out = []
for lnum in range(1, line('$'))
	let text = getline(lnum)
	let last = ''
	let word = ''
	for col in range(1, len(text) + 1)
		let name = col > len(text) ? '' : synIDattr(synID(lnum, col, 1), 'name')
		let char = col > len(text) ? ' ' : text[col - 1]
		if name !=# last || char ==# ' ' && name !~# 'String\|Comment'
			if last !=# '' && word !~# '^\s*$'
				call add(out, last . ' ' . word)
			endif
			let word = ''
		endif
		let word .= char
		let last = name
	endfor
endfor
call writefile(out, 'colours.txt')
VIM
edit -c 'edit colours.cute' -c 'source show.vim' -c 'qa!'
grep -v '^cuteOperator' colours.txt
