# Attention keeps all that it has in registers, with heads of 128 too.
PTXAS=${PTXAS:-$(command -v ptxas ||
    command -v "${CUDA_HOME:-/usr/local/cuda}/bin/ptxas")}
[ -n "$PTXAS" ] || exit 77
CUTEJIT_PTXAS=$PTXAS
export CUTEJIT_PTXAS
for causal in false true; do
	for member in 0 1; do
		echo "causal=$causal, member $member"
		"$CUTEC" compile --arch=sm_80 -k "flash_attention[$member]" \
		    -D D=128 -D causal=$causal --emit=cubin=k.cubin \
		    --report=json \
		    "$SRCDIR/examples/flash_attention_2/flash_attention_2.cute" |
		    grep -o '"[a-z]*_bytes": [0-9]*' | grep -v shared |
		    grep -v constant
	done
done
