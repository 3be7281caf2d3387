autocmd BufRead,BufNewFile *.cute setfiletype cute
