" Settings for .cute files: four blanks, comments, `gq` over lines of code by
" the formatter.
"
" Neovim's own client:
"	vim.lsp.config('cutec', { cmd = { 'cutec', 'lsp' },
"	    filetypes = { 'cute' }, root_markers = { '.git' } })
"	vim.lsp.enable('cutec')
" vim-lsp:
"	au User lsp_setup call lsp#register_server({'name': 'cutec',
"	    \ 'cmd': ['cutec', 'lsp'], 'allowlist': ['cute']})

if exists("b:did_ftplugin")
	finish
endif
let b:did_ftplugin = 1

setlocal expandtab shiftwidth=4 softtabstop=4
setlocal commentstring=//\ %s comments=s1:/*,mb:\ ,ex:*/,://
setlocal formatoptions-=t formatoptions+=croql
setlocal makeprg=cutec\ compile\ --emit=ptx=/dev/null\ %:S
setlocal errorformat=%f:%l:%c:\ %trror:\ %m,%f:%l:%c:\ %tarning:\ %m,%-G%.%#

let b:undo_ftplugin = "setlocal et< sw< sts< cms< com< fo< mp< efm<"
