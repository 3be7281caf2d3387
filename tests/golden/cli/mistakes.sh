# What a wrong command line, a wrong file and a full disk get.
cat > double.cute <<'END'
kernel double(x: tensor(f32, N), y: tensor(f32, N))
{
    launch grid(1) block(64) { let i = thread_idx.x; if i < N { y[i] = 2 * x[i]; } }
}
END
try() { echo "\$ cutec $*"; "$CUTEC" "$@"; echo "status $?"; }
try run double.cute 'x=iota(f32, 8)' --print y
try run double.cute 'x=iota(f32, 8)'
try run double.cute 'x=3' 'y=empty(f32, 8)'
echo 'no array' > wrong.npy
try run double.cute x=@wrong.npy 'y=empty(f32, 8)'
try run double.cute x=@missing.npy 'y=empty(f32, 8)'
try run .
try compile double.cute --arch=
test -w /dev/full || exit 77
for command in --help --version 'explain syntax'; do
	"$CUTEC" $command > /dev/full
	echo "$command: status $?"
done
printf 'kernel k(x: tensor(f32, N)) { launch grid(1) block(1) { x[0] = ' > long.cute
head -c 1000000 /dev/zero | tr '\0' n >> long.cute
printf '; } }\n' >> long.cute
"$CUTEC" compile long.cute 2> long.err
echo "a name of a megabyte: status $?, $(($(wc -c < long.err) / 1000)) kB said"
try compile double.cute -Wno-unussed
try compile double.cute -Werror=unussed
# What is no regular file is written to and stays what it is.
mkfifo pipe
ln -s there.ptx link.ptx
: > there.ptx
chmod 640 there.ptx
cat pipe > got.ptx &
try compile double.cute -o pipe
wait
test -p pipe && echo "the pipe is a pipe, $(grep -c visible got.ptx) kernel came through"
try compile double.cute -o link.ptx
test -L link.ptx && echo "the link is a link, $(grep -c visible there.ptx) kernel behind it"
stat -c %a there.ptx
# Options that there are not, that lack a value or have one too many.
try test --bogus
try test double.cute --filter
try compile double.cute --checked=3
try test double.cute --check=bound
try compile double.cute --emit=cuda
try cache show
try cache ls all
# A rule for make that cannot be written, and one whose names have blanks.
try compile double.cute --emit=ptx=/dev/null -MF /dev/full
cp double.cute 'two $ #.cute'
try compile 'two $ #.cute' --emit=deps=-
"$CUTEC" fmt - <&- 2>&1; echo "status $?"
"$CUTEC" targets 2>&1 >&-; echo "status $?"
