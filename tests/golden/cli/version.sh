# Who finds no cache does not wait for the assembler's version: it has its text
# before. The stand-in says its version when it has read one, or after a while.
cat > ptxas <<'PTXAS'
#!/bin/sh
case $* in
*--version*)
	for i in 1 2 3 4 5 6 7 8 9 10
	do
		[ -e text ] || sleep 0.3
	done
	[ -e text ] && echo "asked, and it has its text" >> said
	echo "release 13.0, V13.0.1"
	exit 0
	;;
esac
while [ $# -gt 0 ]; do [ "$1" = -o ] && out=$2; shift; done
cat > text.new && mv text.new text
cat elf > "$out"
PTXAS
chmod +x ptxas
cp /bin/sh elf
cat > k.cute <<'K'
kernel k(x: tensor(f32, N)) { launch grid(1) block(32) { x[thread_idx.x] = 1; } }
K
CUTEJIT_PTXAS=$PWD/ptxas CUTEJIT_ASSEMBLER=ptxas CUTEJIT_CACHE_DIR=$PWD/cache \
    "$CUTEC" compile k.cute --arch=sm_90 --emit=cubin=k.cubin
cat said
cmp elf k.cubin && grep -c "entry k" text
