" Vim syntax file
" Language: .cute GPU kernels

if exists("b:current_syntax")
	finish
endif

syn iskeyword @,48-57,_

" Reserved everywhere.
syn keyword cuteStatement break continue return
syn keyword cuteConditional if else
syn keyword cuteRepeat for while in
syn keyword cuteStorage const let var
syn keyword cuteStorage fn nextgroup=cuteFunction skipwhite
syn keyword cuteBoolean true false

" Words with a meaning in one place: only where a statement or declaration
" may begin, or behind what makes room for them.
syn match cuteDeclaration /\v(^|[;{}])\s*\zs(kernel|test|bench|tune|import|extern)>\ze\s+[A-Za-z_"]/ nextgroup=cuteForeign,cuteFunction skipwhite
syn match cuteStatement /\v(^|[;{}])\s*\zs(launch|time|shared|tmem|pipeline|order|role|produce|consume|turn)>\ze\s+\h/
syn match cuteClause /\v[A-Za-z0-9_)\]]\s+\zs(as|over|target)>\ze\s+[A-Za-z_(]/
syn match cuteClause /\v(^|\))\s*\zs(where|target)>\ze\s+\S/
syn match cuteClauseBehind /\v(as|over)>/ contained
syn match cuteForeign /\v(cuda|bitcode)>/ contained
syn match cuteFunction /\v\h\w*/ contained contains=cuteStorage

syn keyword cuteType bool int i4 i8 i16 i32 i64 u4 u8 u16 u32 u64 f16 bf16
syn keyword cuteType tf32 f32 f64 f8e4m3 f8e5m2 f8ue8m0 f6e3m2 f6e2m3 f4e2m1
syn keyword cuteType ptr mbarrier tensormap type tensor
syn keyword cuteValue thread_idx block_idx block_dim grid_dim lane_idx warp_idx
syn keyword cuteValue block_rank cluster_dim device none inf nan pi

syn match cuteChoice /\v[(,{]\s*\zs\.\h\w*/
syn match cuteChoice /\.\h\w*/ contained
syn match cuteAny /\v<_>/

syn match cuteNumber /\v<\d[0-9_]*>/
syn match cuteNumber /\v<0x\x[0-9A-Fa-f_]*>/
syn match cuteNumber /\v<0b[01][01_]*>/
syn match cuteFloat /\v<\d[0-9_]*\.\d[0-9_]*([eE][+-]?\d+)?>/
syn match cuteFloat /\v<\d[0-9_]*[eE][+-]?\d+>/
syn match cuteOperator /\v\.\.|\=\>|-\>|[-+*\/%&|^<>=!~:]+/ nextgroup=cuteChoice skipwhite

syn match cuteEscape /\v\\./ contained
syn region cuteString start=/"/ skip=/\\./ end=/"\|$/ contains=cuteEscape nextgroup=cuteClauseBehind skipwhite
syn keyword cuteTodo TODO FIXME NOTE contained
syn region cuteComment start=+//+ end=/$/ contains=cuteTodo,@Spell
syn region cuteComment start=+/\*+ end=+\*/+ contains=cuteComment,cuteTodo,@Spell

" C++ between the braces of `extern cuda { }`.
syn include @cuteCpp syntax/cpp.vim
unlet! b:current_syntax
syn region cuteCuda matchgroup=cuteDeclaration start=/\v<extern\s+cuda\s*\{/ end=/}/ contains=@cuteCpp,cuteCudaBraces
syn region cuteCudaBraces start=/{/ end=/}/ contained transparent contains=@cuteCpp,cuteCudaBraces

syn sync minlines=200

hi def link cuteStatement Statement
hi def link cuteConditional Conditional
hi def link cuteRepeat Repeat
hi def link cuteStorage StorageClass
hi def link cuteDeclaration Structure
hi def link cuteClause Keyword
hi def link cuteClauseBehind Keyword
hi def link cuteForeign Structure
hi def link cuteBoolean Boolean
hi def link cuteType Type
hi def link cuteValue Identifier
hi def link cuteFunction Function
hi def link cuteChoice Constant
hi def link cuteAny Special
hi def link cuteNumber Number
hi def link cuteFloat Float
hi def link cuteOperator Operator
hi def link cuteEscape SpecialChar
hi def link cuteString String
hi def link cuteTodo Todo
hi def link cuteComment Comment

let b:current_syntax = "cute"
