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
# What the description of the Trace Event Format asks for, checked by a reader
# that is not ours: types of all fields, no others, tracks that are named.
import collections, json, sys

def once(pairs):
    keys = [k for k, _ in pairs]
    assert len(set(keys)) == len(keys), keys
    return dict(pairs)

def never(text):
    raise ValueError(text)

with open(sys.argv[1], encoding="ascii") as f:
    trace = json.load(f, object_pairs_hook=once, parse_constant=never)
assert set(trace) <= {"traceEvents", "displayTimeUnit", "otherData"}
assert trace.get("displayTimeUnit", "ms") in ("ms", "ns")
fields = {"M": {"args"}, "X": {"ts", "dur", "args", "cat"},
          "b": {"ts", "id", "cat", "args"}, "e": {"ts", "id", "cat", "args"}}
tracks = collections.defaultdict(list)
names, processes, used = {}, {}, set()
begun, counts = {}, collections.Counter()
for e in trace["traceEvents"]:
    ph = e["ph"]
    counts[ph, e.get("cat", "")] += 1
    assert set(e) <= {"name", "ph", "pid", "tid"} | fields[ph], e
    assert type(e["name"]) is str and e["name"]
    assert type(e["pid"]) is int and e["pid"] == 1
    assert ph == "M" or type(e["ts"]) in (int, float) and e["ts"] >= 0
    if ph == "M":
        assert e["name"] in ("process_name", "thread_name",
                             "thread_sort_index", "process_sort_index")
        if e["name"] == "process_name":
            assert e["pid"] not in processes
            processes[e["pid"]] = e["args"]["name"]
        elif e["name"] == "thread_name":
            assert e["tid"] not in names and e["args"]["name"]
            names[e["tid"]] = e["args"]["name"]
        continue
    assert type(e["tid"]) is int and type(e["cat"]) is str
    used.add(e["tid"])
    if ph == "X":
        assert e["dur"] > 0 and e["args"]["line"] > 0
        tracks[e["tid"]].append((e["ts"], e["ts"] + e["dur"]))
    elif ph == "b":
        key = e["cat"], e["id"]
        assert key not in begun
        begun[key] = e
    else:
        first = begun.pop((e["cat"], e["id"]))
        assert first["ts"] < e["ts"] and first["name"] == e["name"]
        assert first["tid"] == e["tid"]
assert not begun and processes and used <= set(names), used - set(names)
assert len(set(names.values())) == len(names)
for track, slices in tracks.items():
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
