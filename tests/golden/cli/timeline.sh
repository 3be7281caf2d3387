#!/bin/sh
# A trace of events: a ring of copies, products and waits; every slice of a
# track ends before the next one begins, every copy that begins ends.
python=${PYTHON:-python3}
command -v "$python" >/dev/null || exit 77
cp "$SRCDIR/tests/golden/faults/variants/wgmma.cute" .
"$CUTEC" run --device=cpu --report=trace wgmma.cute -k shared_tile \
    'fault="none"' 'a=normal(bf16, row_major(128, 320), seed = 1)' \
    'b=normal(bf16, row_major(32, 320), seed = 2)' \
    'c=empty(f32, row_major(128, 32))' | sed 's/: [0-9.]* ms//'
"$python" - shared_tile.trace.json <<'END'
import collections, json, sys

with open(sys.argv[1]) as f:
    trace = json.load(f)
tracks = collections.defaultdict(list)
names, begun, counts = {}, {}, collections.Counter()
for e in trace["traceEvents"]:
    counts[e["ph"], e.get("cat", "")] += 1
    assert e["name"] and e["pid"] == 1
    if e["ph"] == "M" and e["name"] == "thread_name":
        names[e["tid"]] = e["args"]["name"]
    elif e["ph"] == "X":
        assert e["ts"] >= 0 and e["dur"] > 0 and e["args"]["line"] > 0
        tracks[e["tid"]].append((e["ts"], e["ts"] + e["dur"]))
    elif e["ph"] == "b":
        assert e["id"] not in begun
        begun[e["id"]] = e["ts"]
    elif e["ph"] == "e":
        assert begun.pop(e["id"]) < e["ts"]
assert not begun
for track, slices in tracks.items():
    assert track in names
    slices.sort()
    assert all(a[1] <= b[0] for a, b in zip(slices, slices[1:]))
for key in sorted(counts):
    print(*key, counts[key])
END
"$CUTEC" run --device=cpu --report=html=page.html wgmma.cute -k shared_tile \
    'fault="none"' 'a=normal(bf16, row_major(128, 320), seed = 1)' \
    'b=normal(bf16, row_major(32, 320), seed = 2)' \
    'c=empty(f32, row_major(128, 32))' | sed 's/: [0-9.]* ms//'
grep -c 'class="timeline"' page.html
