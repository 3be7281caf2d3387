#!/bin/sh
# The page as a browser has it: every slice of the timeline, every line of the
# kernel's text, no script, nothing from elsewhere.
for browser in chromium chromium-browser google-chrome ''
do
	command -v "$browser" >/dev/null && break
done
[ -n "$browser" ] || exit 77
cp "$SRCDIR/tests/golden/faults/variants/wgmma.cute" .
"$CUTEC" run --device=cpu --report=html=page.html wgmma.cute -k shared_tile \
    'fault="none"' 'a=normal(bf16, row_major(128, 320), seed = 1)' \
    'b=normal(bf16, row_major(32, 320), seed = 2)' \
    'c=empty(f32, row_major(128, 32))' | sed 's/: [0-9.]* ms//'
HOME=$PWD "$browser" --headless --no-sandbox --disable-gpu --dump-dom \
    "file://$PWD/page.html" >page.dom 2>log || cat log
for what in '<svg' 'class="timeline"' '<script' '<link'
do
	echo "$what: $(grep -c -- "$what" page.html) in the file," \
	    "$(grep -c -- "$what" page.dom) in the browser"
done
echo "slices: $(grep -o '<rect[^>]*stroke:none[^>]*><title>' page.dom |
    wc -l)"
[ "$(grep -c 'class="no"' page.dom)" -ge "$(wc -l <wgmma.cute)" ] &&
	echo every line is there
HOME=$PWD "$browser" --headless --no-sandbox --disable-gpu \
    --window-size=1200,900 --screenshot="$PWD/page.png" \
    "file://$PWD/page.html" 2>log || cat log
[ "$(wc -c <page.png)" -gt 20000 ] && echo there is something to see
