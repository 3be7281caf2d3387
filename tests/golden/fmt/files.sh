#!/bin/sh
# Files: replaced only when something changes, links and modes kept, wrong
# texts left alone.
inode() {
	ls -i "$1" | sed 's/^ *\([0-9]*\).*/\1/'
}

same() {
	cmp -s "$1" "$2" && echo "$1: as $2" || echo "$1: differs from $2"
}

printf 'const  a=1; // one\n' >crooked.cute
printf 'const a = 1;  // one\n' >straight.cute
printf 'const a = ;\n' >wrong.cute
cp crooked.cute first.cute
cp wrong.cute wrong.before
ln -s crooked.cute link.cute
chmod 640 crooked.cute
before=$(inode straight.cute)

echo '-- check names what would change and writes nothing'
$CUTEC fmt --check crooked.cute straight.cute; echo "status $?"
same crooked.cute first.cute
$CUTEC fmt --check straight.cute; echo "status $?"

echo '-- the file behind a link is replaced'
$CUTEC fmt link.cute straight.cute; echo "status $?"
same crooked.cute straight.cute
ls -l crooked.cute | cut -c1-10
[ -L link.cute ] && echo 'link.cute is a link'
[ "$before" = "$(inode straight.cute)" ] && echo 'straight.cute was not touched'
$CUTEC fmt --check crooked.cute link.cute; echo "status $?"

echo '-- a wrong text is reported and left, the others are done'
cp first.cute crooked.cute
$CUTEC fmt wrong.cute crooked.cute; echo "status $?"
same wrong.cute wrong.before
same crooked.cute straight.cute
ls

echo '-- standard input'
$CUTEC fmt - <first.cute; echo "status $?"
$CUTEC fmt --check - <first.cute; echo "status $?"
$CUTEC fmt - <wrong.cute; echo "status $?"
$CUTEC fmt - </dev/null; echo "status $?"

echo '-- wrong use, missing files'
$CUTEC fmt; echo "status $?"
$CUTEC fmt --tidy first.cute 2>/dev/null; echo "status $?"
$CUTEC fmt none.cute; echo "status $?"
$CUTEC fmt --help; echo "status $?"

echo '-- zero bytes in comments stay'
printf 'const a = 1;  // one \0 more\n// \0 all\n' >zero.cute
cp zero.cute zero.before
$CUTEC fmt zero.cute; echo "status $?"
same zero.cute zero.before
