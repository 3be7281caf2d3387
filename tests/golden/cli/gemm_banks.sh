# Products of warps pass through shared memory without a conflict of banks:
# all types, and A and B with stride 1 along either mode.
row='(128,128,1):(128,1,16384)' column='(128,128,1):(1,128,16384)'
for t in f16 bf16 tf32 i8 f64; do
	case $t in
	tf32) from=f32 to=f32 ;;
	i8) from=i8 to=i32 ;;
	*) from=$t to=$t ;;
	esac
	for a in "$row" "$column"; do
		for b in "$row" "$column"; do
			"$CUTEC" run "$SRCDIR/examples/gemm_sm80/gemm_sm80.cute" \
			    --device=cpu -D T=$t -D TC=$to \
			    "A=integers($from,$a,-4,4,seed=1)" \
			    "B=integers($from,$b,-4,4,seed=2)" \
			    "C=empty($to,$row)" --report=json=report.json \
			    > /dev/null || exit 1
			echo "$t $(grep -o '"bank_conflicts": [0-9]*' \
			    report.json | sort -u)"
		done
	done
done
# Tiles that TMA brings.
wide='(256,128,1):(128,1,32768)' long='(256,128,1):(1,256,32768)'
for t in f16 bf16; do
	for b in "$wide" "$long"; do
		"$CUTEC" run "$SRCDIR/examples/gemm_sm80/gemm_sm80.cute" \
		    --device=cpu -D T=$t "A=integers($t,$row,-4,4,seed=1)" \
		    "B=integers($t,$b,-4,4,seed=2)" \
		    "C=empty($t,(128,256,1):(256,1,32768))" \
		    --report=json=report.json > /dev/null || exit 1
		echo "$t $(grep -o '"bank_conflicts": [0-9]*' report.json |
		    sort -u)"
	done
done
# Results of few rows, whose tiles of C have 112 and 224 columns.
for n in 8192 16392; do
	"$CUTEC" run "$SRCDIR/examples/gemm_skinny/gemm_skinny.cute" \
	    --device=cpu "A=integers(bf16,(17,64):(64,1),-4,4,seed=1)" \
	    "B=integers(bf16,($n,64):(64,1),-4,4,seed=2)" \
	    "C=empty(bf16,(17,$n):($n,1))" \
	    --report=json=report.json > /dev/null || exit 1
	echo "skinny $(grep -o '"bank_conflicts": [0-9]*' report.json |
	    sort -u)"
done
