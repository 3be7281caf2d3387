# SARIF 2.1.0: members that the schema requires, their types, and no others.
python3 --version >/dev/null 2>&1 || exit 77
cat > validate.py <<'END'
import json, re, sys
# a member: (required, check); objects allow no members but these
def text(v): return isinstance(v, str)
def uri(v): return text(v) and re.fullmatch(r"[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+", v) and not re.search(r"%(?![0-9A-F]{2})", v)
def count(v): return isinstance(v, int) and not isinstance(v, bool) and v >= 1
def one_of(*words): return lambda v: v in words
def many(check): return lambda v: isinstance(v, list) and all(check(x) for x in v)
def shape(**members):
    def check(v):
        if not isinstance(v, dict):
            return False
        for name, (required, inner) in members.items():
            if required and name not in v:
                print("lacks", name); return False
            if name in v and not inner(v[name]):
                print("wrong", name, v[name]); return False
        for name in v:
            if name not in members and name != "$schema":
                print("unknown", name); return False
        return True
    return check
message = shape(text=(True, text))
region = shape(startLine=(True, count), startColumn=(False, count),
               endLine=(False, count), endColumn=(False, count))
physical = shape(artifactLocation=(True, shape(uri=(True, uri))),
                 region=(False, region))
location = shape(physicalLocation=(False, physical), message=(False, message))
result = shape(message=(True, message), ruleId=(False, text),
               level=(False, one_of("none", "note", "warning", "error")),
               locations=(False, many(location)),
               relatedLocations=(False, many(location)))
driver = shape(name=(True, text), version=(False, text))
run = shape(tool=(True, shape(driver=(True, driver))),
            columnKind=(False, one_of("utf16CodeUnits", "unicodeCodePoints")),
            results=(False, many(result)))
log = shape(version=(True, one_of("2.1.0")), runs=(True, many(run)))
v = json.load(open(sys.argv[1]))
ok = log(v) and v["$schema"].endswith("sarif-2.1.0.json")
for r in v["runs"][0]["results"]:
    p = r["locations"][0]["physicalLocation"] if "locations" in r else None
    print(r["level"], r["ruleId"], p and (p["artifactLocation"]["uri"],
          p["region"]["startLine"], p["region"]["startColumn"],
          p["region"]["endColumn"]), len(r.get("relatedLocations", [])))
print("valid" if ok else "not valid")
END
cat > 'my kernel.cute' <<'END'
fn f(a) => a;
kernel k(x: tensor(f32, N:1), y: tensor(i32, N:1))
{
    launch grid(1) block(32)
    {
        let i = thread_idx.x;
        /* ä */ x[i] = x[i] + y[i];
        x[i] = f(1, 2);
        x[i] = f(z);
    }
}
END
try() { "$CUTEC" compile --diagnostics=sarif --emit=ptx=/dev/null "$@" 2>out.sarif; python3 validate.py out.sarif; }
try 'my kernel.cute'
sed -i '/z)/d' 'my kernel.cute'
try 'my kernel.cute'
printf 'kernel k(x: tensor(f32, N)) { launch grid(1) block(32) { let a = 1; x[0] = 2; } }\n' > unused.cute
try -Wunused unused.cute
try missing.cute
