" Indentation of .cute files as `cutec fmt` lays them out: a step for each
" open brace; lines inside parentheses stand under the first item.

if exists("b:did_indent")
	finish
endif
let b:did_indent = 1

setlocal nolisp autoindent indentexpr=GetCuteIndent(v:lnum)
setlocal indentkeys=0{,0},0),!^F,o,O,e,=where,=target
let b:undo_indent = "setlocal ai< inde< indk<"

if exists("*GetCuteIndent")
	finish
endif

function! s:InText(lnum, col)
	return synIDattr(synID(a:lnum, a:col, 1), 'name')
	    \ =~# 'cute\%(String\|Comment\)'
endfunction

" Does the line go on with the head of a declaration that began above?
function! s:GoesOn(lnum)
	let above = getline(a:lnum - 1)
	return getline(a:lnum) =~# '^\s*=>'
	    \ || (above =~# ',\s*$' && above !~# '^\s*//')
endfunction

function! GetCuteIndent(lnum)
	let line = getline(a:lnum)
	if line =~# '^\s*\%(where\|target\)\s\+\S'
		return 0
	endif
	call cursor(a:lnum, 1)
	" lines above are in order: no bracket is open behind `}` at the edge
	let stop = max([1, search('^}', 'bnW')])
	let skip = 's:InText(line("."), col("."))'
	let paren = searchpairpos('[([]', '', '[])]', 'bnW', skip, stop)
	let brace = searchpairpos('{', '', '}', 'bnW', skip, stop)
	if paren[0] > brace[0] || (paren[0] == brace[0] && paren[1] > brace[1])
		let behind = strpart(getline(paren[0]), paren[1])
		if behind =~# '^\s*$'
			return indent(paren[0]) + (line =~# '^\s*[])]' ? 0 : shiftwidth())
		endif
		return virtcol([paren[0], paren[1]])
	endif
	if brace[0] == 0
		return s:GoesOn(a:lnum) ? shiftwidth() : 0
	endif
	" what opens the brace may itself be continued inside parentheses
	let start = brace[0]
	call cursor(brace[0], 1)
	let outer = searchpair('[([]', '', '[])]', 'bnW', skip, stop)
	if outer > 0
		let start = outer
	endif
	call cursor(start, 1)
	if searchpair('{', '', '}', 'bnW', skip, stop) == 0
		while start > 1 && s:GoesOn(start)
			let start -= 1
		endwhile
	endif
	return indent(start) + (line =~# '^\s*}' ? 0 : shiftwidth())
endfunction
