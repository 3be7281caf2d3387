#!/bin/sh
# The calculator: facts, pictures, and extents by name in a program.
"$CUTEC" layout 'zipped_divide((8, 6):(1, 8), (4, 2))'
"$CUTEC" layout 'mma(SM80_16x8x8_F16F16F16F16_TN, (2, 1))'
"$CUTEC" layout --draw=text '(2, 4):(4, 1)' \
    'thrval(((2, 2), 2):((1, 4), 2), (4, 2))'
"$CUTEC" layout --draw=text 'mma(SM70_8x8x4_F16F16F16F16_TN)'
"$CUTEC" layout --draw=text \
    'copy(UniversalCopy<uint32_t>, f16, (2, 2):(2, 1), (1, 2))'
"$CUTEC" layout --draw=text 'mma(SM80)' 2>&1
"$CUTEC" layout --draw=text 'copy(UniversalCopy<uint32_t>, f99)' 2>&1
"$CUTEC" layout --draw=text 'thrval((2, 2), (4096, 4096))' 2>&1
"$CUTEC" layout --draw=text '(2, 3)' 4 2>&1
"$CUTEC" layout --draw=text '(2, 0)' 2>&1
"$CUTEC" layout --draw=text '(2, -3)' 2>&1
"$CUTEC" layout --draw=png 4 2>&1
"$CUTEC" layout 'copy(FOO, f16)' 2>&1
for form in svg latex html
do
	"$CUTEC" layout --draw=$form 'mma(SM80_16x8x16_F32F16F16F32_TN)' \
	    'banks(composition(swizzle(3, 3, 3), (8, 64):(64, 1)), 16)' \
	    >picture.$form || echo "$form: $?"
done
grep -o '<rect' picture.svg | wc -l
grep -o '^.cell' picture.latex | wc -l
grep -o '<td' picture.html | wc -l
if command -v pdflatex >/dev/null && kpsewhich tikz.sty >/dev/null
then
	pdflatex -interaction=batchmode -halt-on-error picture.latex \
	    >log 2>&1 </dev/null || { cat log; echo 'TeX refuses the picture'; }
fi
cat >names.cute <<'END'
kernel names(x: tensor(f32, (M, N):(ld, 1)), n: int)
where M % 16 == 0, N % 8 == 0, ld % 8 == 0, n > 0
{
    print(layout(x));
    print(logical_divide(layout(x), (16, 8)));
    print(complement(8:1, 8 * N), logical_product(4:1, M:1));
    print(row_major(M, 4, N), make_layout_like((M, 4):(4, 1)));
    print(local_tile((M, N):(1, M), (8, 8), (n, 0)));
    print(domain_offset((n, 0), layout(x)), coalesce((M, N)));
    launch grid(1) block(1) { x[0, 0] = 1; }
}
END
"$CUTEC" run --device=cpu names.cute 'x=iota(f32, (16, 8):(8, 1))' n=3 |
    grep -v executor
