# Arrays in files: what is written is read, also as another type of as many
# bits; the type in front of a file is checked, and so is the file.
cat > k.cute <<'EOF'
kernel as_f32(const T: type, x: tensor(T, N), y: tensor(f32, N))
{
    launch grid(1) block(32) { let i = thread_idx.x; if i < N { y[i] = f32(x[i]); } }
}
kernel ramp(const T: type, y: tensor(T, N))
{
    launch grid(1) block(32) { let i = thread_idx.x; if i < N { y[i] = T(i + 1); } }
}
EOF
for t in bf16 f16 f32 u8 f8e4m3
do
	"$CUTEC" run k.cute -k ramp T=$t "y=zeros($t, 4)" --out y=@$t.npy --device=cpu >/dev/null
done
bits() { "$CUTEC" run k.cute -k ramp "T=$1" "y=zeros($1, 4)" --out "y=@bits.npy" --device=cpu >/dev/null; }
bits u16
for x in @f16.npy f16@f16.npy bf16@bf16.npy f8e4m3@f8e4m3.npy bf16@bits.npy f8e4m3@u8.npy \
    @bf16.npy bf16@f16.npy bf16@f32.npy f8e4m3@bf16.npy nonsense@f32.npy averyveryverylongname@f32.npy
do
	echo "$x"
	"$CUTEC" run k.cute -k as_f32 x=$x 'y=zeros(f32, 4)' --print y --device=cpu 2>&1 | grep -v ' ms$'
done
head -c 20 f32.npy >cut.npy
head -c 140 f32.npy >short.npy
: >empty.npy
for x in cut short empty none
do
	"$CUTEC" run k.cute -k as_f32 x=@$x.npy 'y=zeros(f32, 4)' --device=cpu
	echo "status $?"
done
# headers that lie: what is wrong with them is said
header() { # name version descr shape
	text="{'descr': $3, 'fortran_order': False, 'shape': $4, }"
	(printf "\223NUMPY\00$2\000\200\000"; printf '%-127s\n' "$text"; head -c 32 /dev/zero) >$1.npy
}
header negative 1 "'<f4'" '(-8,)'
header version 7 "'<f4'" '(8,)'
header many 1 "'<f4'" '(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)'
header fields 1 "[('a', '<f4')]" '(8,)'
header empty_far 1 "'<f4'" '(0, 4611686018427387904, 4)'
header good 1 "'<f4'" '(8,)'
for x in negative version many fields empty_far good
do
	"$CUTEC" run k.cute -k as_f32 x=@$x.npy 'y=zeros(f32, 8)' --device=cpu 2>&1 | sed 's/: [0-9.]* ms$//'
done
