#!/usr/bin/env python3
"""Drive `cutec lsp` over its standard streams: drive.py CUTEC.

Needs nothing but Python. Speaks the protocol itself, so that it can also say
what no client would: see client.py for one of those. The last line counts.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import queue

SECONDS = float(os.environ.get("LSP_SECONDS", "60"))
STDERR = None if os.environ.get("LSP_STDERR") else subprocess.DEVNULL


class Server:
    """One `cutec lsp`, with every message that it sent."""

    def __init__(self, *arguments, initialize=True, folder=None):
        self.process = subprocess.Popen(
            [CUTEC, "lsp", *arguments], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=STDERR, cwd=folder)
        self.inbox = queue.Queue()
        self.notices = []
        self.id = 0
        threading.Thread(target=self.receive, daemon=True).start()
        if initialize:
            self.capabilities = self.ask("initialize", {
                "processId": None, "rootUri": None, "capabilities": {},
            })["result"]["capabilities"]
            self.tell("initialized", {})

    def receive(self):
        out = self.process.stdout
        try:
            while True:
                length = None
                while True:
                    line = out.readline()
                    if not line:
                        self.inbox.put(None)
                        return
                    if line == b"\r\n":
                        break
                    name, value = line.split(b":")
                    assert name == b"Content-Length", line
                    length = int(value)
                body = out.read(length)
                message = json.loads(body.decode("utf-8"))
                assert message["jsonrpc"] == "2.0", message
                self.inbox.put(message)
        except Exception as error:  # noqa: BLE001
            self.inbox.put({"broken output": str(error)})

    # -- sending

    def raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        body = json.dumps(message).encode("utf-8")
        self.raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def tell(self, method, params):
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method, params):
        self.id += 1
        self.send({"jsonrpc": "2.0", "id": self.id, "method": method,
                   "params": params})
        return self.answer(self.id)

    # -- receiving

    def next(self):
        try:
            message = self.inbox.get(timeout=SECONDS)
        except queue.Empty:
            raise AssertionError("no answer in %g s" % SECONDS)
        assert message is not None, "the server has ended"
        assert "broken output" not in message, message
        return message

    def answer(self, id):
        while True:
            message = self.next()
            if "method" in message:
                self.notices.append(message)
            else:
                assert message.get("id", "none") == id, message
                return message

    def diagnostics(self, uri, version=None):
        """The next diagnostics that are published for a text."""
        while True:
            for i, m in enumerate(self.notices):
                p = m["params"]
                if m["method"] == "textDocument/publishDiagnostics" and \
                        p["uri"] == uri and \
                        (version is None or p.get("version") == version):
                    del self.notices[i]
                    return p["diagnostics"]
            message = self.next()
            assert "method" in message, message
            self.notices.append(message)

    # -- texts

    def open(self, uri, text, version=1):
        self.tell("textDocument/didOpen", {"textDocument": {
            "uri": uri, "languageId": "cute", "version": version,
            "text": text}})

    def change(self, uri, version, *changes):
        self.tell("textDocument/didChange", {
            "textDocument": {"uri": uri, "version": version},
            "contentChanges": list(changes)})

    def at(self, method, uri, line, character, **more):
        return self.ask("textDocument/" + method, {
            "textDocument": {"uri": uri},
            "position": {"line": line, "character": character}, **more})

    def result(self, method, uri, line, character, **more):
        message = self.at(method, uri, line, character, **more)
        assert "result" in message, message
        return message["result"]

    def hover(self, uri, line, character):
        r = self.result("hover", uri, line, character)
        return None if r is None else r["contents"]["value"]

    def labels(self, uri, line, character):
        r = self.result("completion", uri, line, character)
        return [i["label"] for i in r["items"]]

    # -- the end

    def is_alive(self):
        """Whether a request still gets its answer."""
        m = self.ask("textDocument/hover", None)
        assert m["error"]["code"] == -32602, m

    def stop(self):
        assert self.ask("shutdown", None)["result"] is None
        self.tell("exit", None)
        assert self.process.wait(SECONDS) == 0
        return self

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()


def errors(found):
    """Those of the diagnostics that are errors."""
    return [d for d in found if d["severity"] == 1]


def error_of(message):
    assert "error" in message, message
    return message["error"]["code"]


def range_of(line, begin, end_line, end):
    return {"start": {"line": line, "character": begin},
            "end": {"line": end_line, "character": end}}


def place(text, needle, nth=0):
    """Line and UTF-16 character where a piece of text begins."""
    offset = -1
    for _ in range(nth + 1):
        offset = text.index(needle, offset + 1)
    before = text[:offset]
    line = before.count("\n")
    last = before.rfind("\n") + 1
    return line, len(before[last:].encode("utf-16-le")) // 2


def apply(text, edits):
    """A text after edits, which must not overlap."""
    lines = text.split("\n")
    starts = [0]
    for part in lines:
        starts.append(starts[-1] + len(part) + 1)

    def offset(p):
        line = lines[p["line"]] if p["line"] < len(lines) else ""
        units = line.encode("utf-16-le")[:2 * p["character"]]
        return starts[p["line"]] + len(units.decode("utf-16-le"))

    for e in sorted(edits, key=lambda e: offset(e["range"]["start"]),
                    reverse=True):
        begin = offset(e["range"]["start"])
        end = offset(e["range"]["end"])
        text = text[:begin] + e["newText"] + text[end:]
    return text


URI = "file:///tmp/no-such-folder/a.cute"

PROGRAM = """\
// Twice a value.
// In any type.
fn twice(x, const n = 2) => x * n;

const WIDTH = 4 * 32;
const tile = row_major(8, 4);

kernel scale(const T: type in {f16, f32} = f16, const threads = 256,
             x: tensor(T, (M, N):(_, 1)) align(16),
             y: tensor(T, (M, N):(_, 1)) align(16),
             alpha: f32 = 1)
where N % (128 / bits(T)) == 0
{
    const V = 128 / bits(T);
    let per_block = threads * V;
    launch grid(M) block(threads)
    {
        shared s: tensor(f32, threads:1);
        for k in 0..ceil_div(N, per_block) {
            let i = k * threads + thread_idx.x;
            if i < N { y[block_idx.x, i] = T(twice(f32(x[block_idx.x, i]))); }
        }
    }
}

test "scale" over n in {8, 16} {
    let x = normal(f32, row_major(4, n), seed = 1);
    let y = empty(f32, row_major(4, n));
    launch scale(x, y, alpha = 2);
}
"""


def with_program(text=PROGRAM, uri=URI):
    s = Server()
    s.open(uri, text)
    return s


# ---- life ------------------------------------------------------------------

def test_life():
    s = Server(initialize=False)
    assert error_of(s.ask("textDocument/hover", {})) == -32002
    assert error_of(s.ask("shutdown", None)) == -32002
    s.tell("textDocument/didOpen", {"textDocument": {
        "uri": URI, "languageId": "cute", "version": 1, "text": "x"}})
    r = s.ask("initialize", {"capabilities": {}})["result"]
    assert r["serverInfo"]["name"] == "cutec"
    assert r["capabilities"]["hoverProvider"] is True
    assert r["capabilities"]["positionEncoding"] == "utf-16"
    assert error_of(s.ask("initialize", {})) == -32600
    # what came before is not open
    assert error_of(s.at("hover", URI, 0, 0)) == -32602
    assert error_of(s.ask("no/such/method", {})) == -32601
    assert error_of(s.ask("$/none", None)) == -32601
    assert error_of(s.ask("initialized", {})) == -32601
    s.tell("no/such/notice", {})
    s.tell("$/cancelRequest", {"id": 1})
    assert s.ask("shutdown", None)["result"] is None
    assert error_of(s.ask("textDocument/hover", {})) == -32600
    s.tell("exit", None)
    assert s.process.wait(SECONDS) == 0
    return s


def test_exit_without_shutdown():
    s = Server()
    s.tell("exit", None)
    assert s.process.wait(SECONDS) == 1
    return s


def test_end_of_input():
    s = Server()
    s.process.stdin.close()
    assert s.process.wait(SECONDS) == 1
    return s


def test_exit_at_once():
    s = Server(initialize=False)
    s.tell("exit", None)
    assert s.process.wait(SECONDS) == 1
    return s


# ---- diagnostics -----------------------------------------------------------

def test_right_text():
    s = with_program()
    found = s.diagnostics(URI, 1)
    assert errors(found) == [], found
    return s.stop()


def test_syntax_error():
    s = Server()
    s.open(URI, "const a = ;\nconst b = 1\nfn f() => b;\n")
    found = s.diagnostics(URI, 1)
    assert found[0]["range"] == range_of(0, 10, 0, 11), found
    assert found[0]["severity"] == 1
    assert found[0]["code"] == "syntax"
    assert found[0]["source"] == "cute"
    assert found[1]["range"]["start"]["line"] == 1, found
    return s.stop()


def test_utf16():
    # a clef is two UTF-16 units, four bytes, one character
    s = Server()
    s.open(URI, 'test "\U0001d11e\u00e9" { wrong(1); }\r\nconst a = ;\r\n')
    found = s.diagnostics(URI)
    assert found[0]["range"] == range_of(1, 10, 1, 11), found
    s.change(URI, 2, {"text": 'test "\U0001d11e\u00e9" { wrong(1); }\r\n'})
    found = s.diagnostics(URI, 2)
    assert found[0]["range"] == range_of(0, 13, 0, 18), found
    assert found[0]["code"] == "unknown-name"
    return s.stop()


def test_changes():
    s = Server()
    text = "const a = 1;\nconst b = a;\n"
    s.open(URI, text)
    assert s.diagnostics(URI, 1) == []
    # incremental: b = nome, then in the same notice nome -> name
    s.change(URI, 2, {"range": range_of(1, 10, 1, 11), "text": "nome"},
             {"range": range_of(1, 11, 1, 12), "text": "a"})
    found = s.diagnostics(URI, 2)
    assert "name" in found[0]["message"], found
    assert found[0]["range"] == range_of(1, 10, 1, 14), found
    # whole text
    s.change(URI, 3, {"text": text})
    assert s.diagnostics(URI, 3) == []
    # insert a line in front, a position behind the end of a line
    s.change(URI, 4, {"range": range_of(0, 0, 0, 0), "text": "// \u00e9\n"},
             {"range": range_of(2, 400, 2, 400), "text": " const c = d;"})
    found = s.diagnostics(URI, 4)
    assert found[0]["range"] == range_of(2, 23, 2, 24), found
    # closing clears
    s.tell("textDocument/didClose", {"textDocument": {"uri": URI}})
    assert s.diagnostics(URI) == []
    return s.stop()


def test_wrong_kernel():
    """What only elaboration finds, and only once for a family."""
    s = Server()
    text = ("kernel k(x: tensor(f16, N))\n{\n"
            "    launch grid(1) block(32) { x[0] = x[1] * f32(2); }\n}\n")
    s.open(URI, text)
    found = s.diagnostics(URI, 1)
    assert found and found[0]["range"]["start"]["line"] == 2, found
    assert found[0]["severity"] == 1
    s.change(URI, 2, {"text": text.replace("f32(2)", "2")})
    found = s.diagnostics(URI, 2)
    assert errors(found) == [], found
    return s.stop()


def test_related():
    s = Server()
    s.open(URI, "const a = 1;\nconst a = 2;\n")
    d = s.diagnostics(URI, 1)[0]
    assert d["code"] == "duplicate-name"
    r = d["relatedInformation"]
    assert r[0]["location"] == {"uri": URI, "range": range_of(0, 6, 0, 7)}
    return s.stop()


def test_quick_fix():
    s = Server()
    text = "const width = 1;\nconst a = widht;\n"
    s.open(URI, text)
    d = s.diagnostics(URI, 1)[0]
    ask = {"textDocument": {"uri": URI}, "range": d["range"],
           "context": {"diagnostics": [d]}}
    actions = s.ask("textDocument/codeAction", ask)["result"]
    assert len(actions) == 1, actions
    assert actions[0]["kind"] == "quickfix"
    assert actions[0]["title"] == 'Replace by "width"'
    assert actions[0]["diagnostics"] == [d]
    fixed = apply(text, actions[0]["edit"]["changes"][URI])
    assert fixed == text.replace("widht", "width")
    ask["range"] = range_of(0, 0, 0, 3)
    assert s.ask("textDocument/codeAction", ask)["result"] == []
    s.change(URI, 2, {"text": fixed})
    ask["range"] = d["range"]
    assert s.ask("textDocument/codeAction", ask)["result"] == []
    assert s.diagnostics(URI, 2) == []
    return s.stop()


# ---- imports ---------------------------------------------------------------

def uri_of(path):
    return "file://" + path.replace(" ", "%20")


def test_imports():
    with tempfile.TemporaryDirectory(prefix="lsp dr\u00efve ") as folder:
        return imports_in(os.path.realpath(folder))


def imports_in(folder):
    library = os.path.join(folder, "library.cute")
    program = os.path.join(folder, "program.cute")
    with open(library, "w") as f:
        f.write("// Three times.\nfn thrice(x) => 3 * x;\nconst N = 5;\n")
    text = ('import "library.cute";\nimport "library.cute" as lib;\n'
            "const a = thrice(2);\nconst b = lib.N;\nconst c = a + N;\n")
    s = Server()
    uri = uri_of(program).replace("\u00ef", "%C3%AF")
    library_uri = uri_of(library).replace("\u00ef", "%C3%AF")
    s.open(uri, text)
    assert s.diagnostics(uri, 1) == []
    for needle, line in (("thrice", 1), ("N;", 2)):
        r = s.result("definition", uri, *place(text, needle))
        assert r[0]["uri"] == library_uri, r
        assert r[0]["range"]["start"]["line"] == line, r
    r = s.result("definition", uri, 0, 10)
    assert r == [{"uri": library_uri, "range": range_of(0, 0, 0, 0)}], r
    assert "Three times." in s.hover(uri, *place(text, "thrice"))
    assert "value `6`" in s.hover(uri, *place(text, "a ="))
    assert "value `5`" in s.hover(uri, *place(text, "b ="))
    assert s.labels(uri, *place(text, "N;")) == ["thrice", "N"]
    assert "thrice" in s.labels(uri, *place(text, "a + N"))
    # an open text hides the file
    s.open(library_uri, "fn thrice(x) => 30 * x;\n")
    found = s.diagnostics(uri)
    assert any("N" in d["message"] for d in found), found
    s.change(library_uri, 2, {"text": "fn thrice(x) => 30 * x;\n"
                                      "const N = 7;\n"})
    assert s.diagnostics(uri) == []
    assert "value `60`" in s.hover(uri, *place(text, "a ="))
    # renaming reaches both
    r = s.result("rename", uri, *place(text, "thrice"), newName="triple")
    assert sorted(r["changes"]) == sorted([uri, library_uri]), r
    # an error in it shows at the import, with its own place
    s.change(library_uri, 3, {"text": "fn thrice(x) => ;\nconst N = 7;\n"})
    found = s.diagnostics(uri)
    assert found[0]["range"] == range_of(0, 7, 0, 21), found
    r = found[0]["relatedInformation"][0]["location"]
    assert r["uri"] == library_uri, found
    # closed: the file again
    s.tell("textDocument/didClose", {"textDocument": {"uri": library_uri}})
    assert s.diagnostics(uri) == []
    assert "value `6`" in s.hover(uri, *place(text, "a ="))
    # the file changes: seen when asked
    with open(library, "w") as f:
        f.write("\n\nfn thrice(x) => 4 * x;\nconst N = 5;\n")
    r = s.result("definition", uri, *place(text, "thrice"))
    assert r[0]["range"]["start"]["line"] == 2, r
    return s.stop()


def test_include_folder():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "library.cute"), "w") as f:
            f.write("const N = 5;\n")
        s = Server("-I", folder)
        s.open(URI, 'import "library.cute";\nconst a = N;\n')
        assert s.diagnostics(URI, 1) == []
        assert s.result("definition", URI, 1, 10)[0]["uri"].endswith(
            "/library.cute")
        return s.stop()


# ---- hover -----------------------------------------------------------------

def test_hover():
    s = with_program()

    def says(needle, *wanted, nth=0):
        text = s.hover(URI, *place(PROGRAM, needle, nth))
        for w in wanted:
            assert text is not None and w in text, (needle, w, text)

    says("twice(x", "fn twice(x, const n = 2) => x * n", "function",
         "Twice a value.\nIn any type.")
    says("twice(f32", "fn twice(x, const n = 2)")
    says("WIDTH", "const WIDTH = 4 * 32", "value `128`")
    says("tile", "value `(8,4):(4,1)`".replace(",", ", "))
    says("scale(const", "kernel scale(const T", "alpha: f32 = 1)")
    says("threads = 256", "const threads = 256", "compile-time parameter")
    says("x: tensor(T", "x: tensor(T, (M, N):(_, 1)) align(16)",
         "parameter of the kernel")
    says("x[block_idx.x", "x: tensor(T, (M, N):(_, 1)) align(16)", nth=0)
    says("alpha: f32", "alpha: f32 = 1")
    says("M, N", "x: tensor", "bound by the argument")
    says("V = 128", "const V = 128 / bits(T)", "value `8` where `T = f16`")
    says("per_block =", "value `2048` where `threads = 256, T = f16`")
    says("s: tensor(f32", "shared memory")
    says("k in 0", "variable of the loop")
    says("bits(T)) ==", "bits(T)", "built-in function")
    says("ceil_div", "ceil_div(a, b)")
    says("thread_idx", "thread_idx", "built-in value")
    says("align(16)", "align(bytes)", "attribute")
    says("f16, f32", "f16", "type")
    says("n in {8", "takes each of these values")
    says("alpha = 2", "alpha: f32 = 1", "parameter of the kernel")
    says("scale(x, y", "kernel scale")
    assert s.hover(URI, 3, 0) is None
    assert s.hover(URI, 4, 12) is None
    assert s.hover(URI, 4000, 12) is None
    return s.stop()


def test_hover_prelude():
    s = Server()
    text = "fn f(x) => sigmoid(x) + cute.size(x);\n"
    s.open(URI, text)
    assert "fn sigmoid(x, const approx = false)" in s.hover(
        URI, *place(text, "sigmoid"))
    assert "standard library" in s.hover(URI, *place(text, "sigmoid"))
    assert "size(l [, mode])" in s.hover(URI, *place(text, "size"))
    assert s.result("definition", URI, *place(text, "sigmoid")) == []
    assert s.result("prepareRename", URI, *place(text, "sigmoid")) is None
    assert error_of(s.at("rename", URI, *place(text, "sigmoid"),
                         newName="other")) == -32803
    return s.stop()


def test_hover_family():
    s = Server()
    text = ("kernel k(x: tensor(f32, N)) { }\n"
            "kernel k(x: tensor(f32, *S)) { }\n"
            'test "t" { launch k[1](full(f32, 4:1, 0)); }\n')
    s.open(URI, text)
    assert "member 0 of a family of 2" in s.hover(URI, 0, 7)
    assert "member 1 of a family of 2" in s.hover(URI, 1, 7)
    r = s.result("definition", URI, *place(text, "k[1]"))
    assert [p["range"]["start"]["line"] for p in r] == [0, 1], r
    return s.stop()


# ---- names -----------------------------------------------------------------

def test_definition():
    s = with_program()

    def leads(needle, to, nth=0, to_nth=0):
        r = s.result("definition", URI, *place(PROGRAM, needle, nth))
        line, character = place(PROGRAM, to, to_nth)
        assert r and r[0]["uri"] == URI, (needle, r)
        assert r[0]["range"]["start"] == {
            "line": line, "character": character}, (needle, r)

    leads("twice(f32", "twice(x")
    leads("x * n", "x, const n")
    leads("T, (M", "T: type")
    leads("N % ", "N):(_")
    leads("per_block)", "per_block =")
    leads("i < N", "i = k")
    leads("k * threads", "k in 0")
    leads("y[block_idx", "y: tensor")
    leads("scale(x, y", "scale(const")
    leads("x, y, alpha", "x = normal")
    leads("alpha = 2", "alpha: f32")
    leads("n), seed", "n in {8")
    assert s.result("definition", URI, *place(PROGRAM, "bits")) == []
    assert s.result("definition", URI, 1, 5) is None
    return s.stop()


def test_shadowing():
    s = Server()
    text = ("const a = 1;\nfn f(x) {\n    let b = a;\n    let g = fn(a) => "
            "a + b;\n    if x { let c = 1; g(c); } else { let c = 2; g(c); }"
            "\n    return g(b);\n}\n")
    s.open(URI, text)
    r = s.result("definition", URI, 2, 12)
    assert r[0]["range"]["start"] == {"line": 0, "character": 6}
    r = s.result("definition", URI, *place(text, "a + b"))
    assert r[0]["range"]["start"] == {"line": 3, "character": 15}, r
    r = s.result("definition", URI, *place(text, "c); } else"))
    assert r[0]["range"]["start"]["character"] == 15, r
    r = s.result("definition", URI, *place(text, "c); }\n"))
    assert r[0]["range"]["start"]["character"] == 41, r
    r = s.result("references", URI, *place(text, "a = 1"),
                 context={"includeDeclaration": False})
    assert [p["range"]["start"]["line"] for p in r] == [2], r
    return s.stop()


def test_pipeline_names():
    s = Server()
    text = ("kernel k(x: tensor(f32, N)) {\n"
            "    launch grid(1) block(64) {\n"
            "        pipeline ring(2) { a: tensor(f32, 32:1); }\n"
            "        role one warps(0) {\n"
            "            produce ring as s { copy(x, s.a); }\n"
            "        }\n"
            "        role two warps(1) {\n"
            "            consume ring as t { x[two.thread] = t.a[0]; }\n"
            "        }\n    }\n}\n")
    s.open(URI, text)
    for needle in ("s.a", "t.a"):
        line, c = place(text, needle)
        r = s.result("definition", URI, line, c + 2)
        assert r[0]["range"]["start"] == {"line": 2, "character": 27}, r
        assert "field of each stage" in s.hover(URI, line, c + 2)
        assert s.labels(URI, line, c + 2) == ["a"]
    line, c = place(text, "two.thread")
    assert "warpgroup" in s.labels(URI, line, c + 4)
    assert "stage that is read" in s.hover(URI, *place(text, "t.a"))
    return s.stop()


def test_references():
    s = with_program()
    r = s.result("references", URI, *place(PROGRAM, "threads = 256"),
                 context={"includeDeclaration": True})
    assert len(r) == 5, r
    r = s.result("documentHighlight", URI, *place(PROGRAM, "threads = 256"))
    assert sorted(h["kind"] for h in r) == [2, 2, 2, 2, 3], r
    r = s.result("references", URI, *place(PROGRAM, "M, N", 1),
                 context={"includeDeclaration": True})
    assert len(r) == 3, r
    return s.stop()


def test_rename():
    s = with_program()
    where = place(PROGRAM, "per_block =")
    r = s.result("prepareRename", URI, *where)
    assert r == range_of(where[0], where[1], where[0], where[1] + 9)
    r = s.result("rename", URI, *where, newName="chunk")
    assert apply(PROGRAM, r["changes"][URI]) == PROGRAM.replace(
        "per_block", "chunk")
    # an argument's name is its parameter's
    r = s.result("rename", URI, *place(PROGRAM, "alpha = 2"), newName="beta")
    assert apply(PROGRAM, r["changes"][URI]) == PROGRAM.replace(
        "alpha", "beta")
    r = s.result("rename", URI, *place(PROGRAM, "scale(x"), newName="grow")
    assert len(r["changes"][URI]) == 2, r
    for name in ("1x", "", "let", "_", "a b", "a-b", None, 3):
        assert error_of(s.at("rename", URI, *where,
                             newName=name)) == -32602, name
    return s.stop()


# ---- completion ------------------------------------------------------------

def test_completion():
    s = with_program()
    names = s.labels(URI, *place(PROGRAM, "i < N"))
    for n in ("i", "k", "s", "V", "per_block", "threads", "x", "M", "twice",
              "WIDTH", "ceil_div", "sigmoid", "thread_idx", "f16", "let",
              "const"):
        assert n in names, n
    for n in ("n", "scale", "align", "grid", "__exp_f32"):
        assert n not in names, n
    assert len(names) == len(set(names))
    line, c = place(PROGRAM, "thread_idx.x")
    assert s.labels(URI, line, c + 11) == ["x", "y", "z"]
    assert s.labels(URI, 0, 5) == []          # in a comment
    line, c = place(PROGRAM, '"scale"')
    assert s.labels(URI, line, c + 3) == []   # in a text
    return s.stop()


def typed(text, position=None):
    """What is offered where | stands."""
    offset = text.index("|")
    line = text[:offset].count("\n")
    character = offset - (text[:offset].rfind("\n") + 1)
    s = Server()
    s.open(URI, text.replace("|", ""))
    r = s.result("completion", URI, line, character)
    s.stop().kill()
    return [i["label"] for i in r["items"]]


def test_completion_places():
    k = "kernel k(const n = 1, x: tensor(f32, N)) {\n launch "
    names = typed(k + "grid(1) |\n}\n")
    assert "block" in names and "cluster" in names, names
    assert "let" not in names and "unroll" not in names
    assert "unroll" in typed(k + "grid(1) block(1) {\n for i in 0..n un|\n}}")
    assert typed("kernel k(x: tensor(f32, N) |") == [
        "align", "unit", "alias", "in"]
    assert typed("fn f(t) => load(t, scope = .|);\n") == [
        "block", "cluster", "gpu", "system"]
    assert "sm_90a" in typed("kernel k() target |\n{ }\n")
    names = typed(k + "grid(1) block(1) { } }\ntest \"t\" { launch | }\n")
    assert names[0] == "k" and "grid" in names, names
    names = typed(k + "grid(1) block(1) { } }\ntest \"t\" { launch k(| }\n")
    assert names[:2] == ["n = ", "x = "], names
    assert "x" in typed("fn f(x) {\n  let a = x;\n  return |\n")
    assert "seed = " in typed('test "t" { let a = normal(f32, 8:1, |) }\n')
    assert typed("const a = 1; /* a |") == []
    assert typed("extern cuda { int x| }") == []
    assert "fn" in typed("|")
    return None


def test_signature():
    s = with_program()
    line, c = place(PROGRAM, "y, alpha")
    r = s.result("signatureHelp", URI, line, c)
    assert r["signatures"][0]["label"].startswith("kernel scale(")
    assert r["activeParameter"] == 1
    labels = [p["label"] for p in r["signatures"][0]["parameters"]]
    assert labels[1] == "const threads = 256", labels
    line, c = place(PROGRAM, "per_block) {")
    r = s.result("signatureHelp", URI, line, c)
    assert r["signatures"][0]["label"] == "ceil_div(a, b)", r
    assert s.result("signatureHelp", URI, 3, 0) is None
    return s.stop()


# ---- whole texts -----------------------------------------------------------

def test_symbols():
    s = with_program()
    r = s.ask("textDocument/documentSymbol",
              {"textDocument": {"uri": URI}})["result"]
    assert [e["name"] for e in r] == [
        "twice", "WIDTH", "tile", "scale", "test scale"], r
    inside = r[3]["children"]
    assert [e["name"] for e in inside] == ["V", "s"], inside
    r = s.ask("textDocument/foldingRange",
              {"textDocument": {"uri": URI}})["result"]
    assert {"startLine": 12, "endLine": 23} in r, r
    return s.stop()


def test_format():
    s = Server()
    ask = {"textDocument": {"uri": URI},
           "options": {"tabSize": 4, "insertSpaces": True}}
    for text in ("const a=1;\n", "", "\n\n", "const a = 1;",
                 "// \U0001d11e\u00e9\nfn f( x )=>x ; // \u00e9\n",
                 "const a=1;\r\n// \u00e9  \r\nconst b =2;\r\n",
                 PROGRAM, PROGRAM.replace("    ", "\t").replace(", ", ",")):
        s.open(URI, text)
        edits = s.ask("textDocument/formatting", ask)["result"]
        wanted = subprocess.run([CUTEC, "fmt", "-"], check=True,
                                input=text.encode(),
                                stdout=subprocess.PIPE).stdout.decode()
        assert apply(text, edits) == wanted, (text, edits, wanted)
        if text == wanted:
            assert edits == [], edits
    s.open(URI, "const a=;\n")
    assert error_of(s.ask("textDocument/formatting", ask)) == -32803
    return s.stop()


# ---- what no client would say ----------------------------------------------

def test_broken_json():
    s = Server()
    for body in (b"{", b"", b"nonsense", b'{"jsonrpc": "2.0", "id": 1',
                 b'"\xff\xfe"', b'{"a": "\\ud800"}', b"[" * 100000,
                 b'{"id":1}{"id":2}', b"1e999999"):
        s.raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        m = s.answer(None)
        assert m["error"]["code"] == -32700, (body[:20], m)
    for message in ([], 3, "text", None, [{"jsonrpc": "2.0", "id": 1}],
                    {}, {"id": 3}, {"id": {}, "method": "shutdown"},
                    {"id": [1], "method": "shutdown"},
                    {"id": None, "method": "shutdown"},
                    {"id": 1.5, "method": "shutdown"}, {"method": 3}):
        s.send(message)
        m = s.next()
        assert m["error"]["code"] in (-32600, -32700), (message, m)
    # answers to questions that were never asked are passed over
    s.send({"jsonrpc": "2.0", "id": 5, "result": None})
    s.send({"jsonrpc": "2.0", "id": 5, "error": {"code": 1, "message": ""}})
    s.is_alive()
    return s.stop()


def test_text_ids():
    s = Server()
    s.send({"jsonrpc": "2.0", "id": "a", "method": "none"})
    assert s.answer("a")["error"]["code"] == -32601
    return s.stop()


def test_headers():
    s = Server()
    body = b'{"jsonrpc":"2.0","id":"x","method":"none"}'
    n = len(body)
    good = b"Content-Length: %d\r\n\r\n" % n + body
    # other headers, other order, other case, bare line feeds
    for head in (b"Content-Type: application/vscode-jsonrpc; charset=utf-8"
                 b"\r\nContent-Length: %d\r\n\r\n" % n,
                 b"Content-Length:%d\r\nX-Other: a: b\r\n\r\n" % n,
                 b"content-length: %d\n\n" % n,
                 b"\r\n\r\nContent-Length: %d\r\n\r\n" % n):
        s.raw(head + body)
        assert s.answer("x")["error"]["code"] == -32601, head
    # wrong ones: an error once, then the next message is found
    for wrong in (b"Content-Length: -5\r\n\r\n", b"nonsense\r\n",
                  b"Content-Length: abc\r\n\r\n",
                  b"Content-Type: text\r\n\r\n", b"\x00\x01\x02\r\n",
                  b"Content-Length: 12 12\r\n\r\n",
                  b"a" * 100000 + b"\r\n", b"\r\n: \r\n",
                  b"Content-Length: 99999999999999999999999\r\n" * 0 +
                  b"{\"jsonrpc\": \"2.0\"}\r\nmore\r\nand more\r\n"):
        s.raw(wrong + good)
        assert s.answer(None)["error"]["code"] == -32700, wrong[:20]
        assert s.answer("x")["error"]["code"] == -32601, wrong[:20]
    # a length that is too short: the rest is passed over
    s.raw(b"Content-Length: %d\r\n\r\n" % (n - 6) + body + good)
    assert s.answer(None)["error"]["code"] == -32700
    m = s.next()
    if m["id"] is None:
        m = s.next()
    assert m["id"] == "x", m
    # too long: it takes what follows with it, but no more than that
    s.raw(b"Content-Length: %d\r\n\r\n" % (n + 20) + body + good + good)
    assert s.answer(None)["error"]["code"] == -32700
    m = s.next()
    if m["id"] is None:
        m = s.next()
    assert m["id"] == "x", m
    s.is_alive()
    return s.stop()


def test_huge():
    s = Server()
    size = 65 << 20
    s.raw(b"Content-Length: %d\r\n\r\n" % size)
    chunk = b" " * (1 << 20)
    for _ in range(65):
        s.raw(chunk)
    assert s.answer(None)["error"]["code"] == -32700
    s.is_alive()
    # large, but allowed
    text = "// filler \u00e9\n" * 200000 + "const a = ;\n"
    s.open(URI, text)
    found = s.diagnostics(URI, 1)
    assert found[0]["range"] == range_of(200000, 10, 200000, 11), found
    s.change(URI, 2, {"range": range_of(200000, 10, 200000, 10),
                      "text": "1"})
    assert s.diagnostics(URI, 2) == []
    return s.stop()


def test_claimed_length():
    """A length that nothing follows: the end of the input ends it."""
    s = Server()
    s.raw(b"Content-Length: 99999999999999999999999\r\n\r\n{}")
    s.process.stdin.close()
    assert s.process.wait(SECONDS) == 1
    return s


def test_wrong_params():
    s = with_program()
    values = [None, 3, "x", [], {}, {"textDocument": 3},
              {"textDocument": {"uri": 3}}, {"textDocument": {"uri": URI}},
              {"textDocument": {"uri": "file:///none"},
               "position": {"line": 0, "character": 0}},
              {"textDocument": {"uri": URI}, "position": 3},
              {"textDocument": {"uri": URI}, "position": {"line": "a"}},
              {"textDocument": {"uri": URI},
               "position": {"line": -1, "character": 0}},
              {"textDocument": {"uri": URI},
               "position": {"line": 0.5, "character": 0}},
              {"textDocument": {"uri": URI},
               "position": {"line": 2 ** 62, "character": 2 ** 62}},
              {"textDocument": {"uri": URI}, "range": {"start": 3}}]
    methods = ["hover", "definition", "references", "documentHighlight",
               "prepareRename", "rename", "completion", "signatureHelp",
               "documentSymbol", "foldingRange", "formatting", "codeAction"]
    for method in methods:
        for v in values:
            m = s.ask("textDocument/" + method, v)
            assert "result" in m or m["error"]["code"] in (
                -32602, -32803), (method, v, m)
    for method in ("didOpen", "didChange", "didClose", "didSave"):
        for v in values[:-1]:
            if method != "didClose" or v is None or v == 3 or \
                    "position" not in v:
                s.tell("textDocument/" + method, v)
    s.is_alive()
    s.open(URI, PROGRAM)
    for change in (None, 3, {}, {"text": 3}, {"text": "x", "range": 3},
                   {"text": "x", "range": range_of(5, 0, 4, 0)},
                   {"text": "x", "range": {"start": {}, "end": {}}}):
        s.change(URI, 2, change)
    assert "kernel scale" in s.hover(URI, *place(PROGRAM, "scale(const"))
    return s.stop()


def test_strange_texts():
    s = Server()
    for n, text in enumerate((
            "\x00", "const a\x00 = 1;", "\ufeffconst a = 1;\n", "\r\r\r",
            "(" * 100000, "fn f() " + "{" * 5000, '"' * 99, "/*" * 5000,
            "const a = " + "1 + " * 20000 + "1;", "extern cuda {",
            "if " * 3000, "\U0001d11e" * 100, "const \u00e9 = 1;",
            'import "a.cute";', 'import "/dev/zero";',
            'import "' + URI[7:] + '";', 'import "/tmp";', "import")):
        uri = "file:///tmp/strange%d.cute" % n
        s.open(uri, text)
        s.diagnostics(uri, 1)
        for line, character in ((0, 0), (0, 7), (0, 12), (9, 9)):
            s.hover(uri, line, character)
            s.labels(uri, line, character)
            s.result("definition", uri, line, character)
            s.result("signatureHelp", uri, line, character)
        for m in ("documentSymbol", "foldingRange", "formatting"):
            s.ask("textDocument/" + m, {"textDocument": {"uri": uri}})
        s.tell("textDocument/didClose", {"textDocument": {"uri": uri}})
    return s.stop()


def test_strange_uris():
    s = Server()
    for uri in ("untitled:Untitled-1", "", "file://", "file:///", "%",
                "file:///a%", "file:///a%00b", "file:///%ff%fe",
                "http://host/a.cute", "file://host/a%20b.cute?x#y",
                "x" * 100000):
        s.open(uri, "const a = b;\n")
        found = s.diagnostics(uri, 1)
        assert found[0]["code"] == "unknown-name", (uri, found)
        assert found[0]["range"] == range_of(0, 10, 0, 11), (uri, found)
    return s.stop()


def test_typing():
    """A text typed letter by letter, with questions in between."""
    s = Server()
    s.open(URI, "")
    text = PROGRAM[:PROGRAM.index("test ")]
    line = character = 0
    for n, c in enumerate(text):
        s.change(URI, n + 2, {"range": range_of(line, character, line,
                                                character), "text": c})
        if c == "\n":
            line, character = line + 1, 0
        else:
            character += 1
        if n % 7 == 0:
            s.labels(URI, line, character)
        if n % 11 == 0:
            s.hover(URI, line, max(0, character - 2))
        if n % 97 == 0:
            s.ask("textDocument/documentSymbol",
                  {"textDocument": {"uri": URI}})
    found = s.diagnostics(URI, len(text) + 1)
    assert errors(found) == [], found
    return s.stop()


def test_random_edits():
    """Texts cut and mixed at random; every question gets an answer."""
    draw = random.Random(int(os.environ.get("LSP_SEED", "1")))
    pieces = ["(", ")", "{", "}", ";", ",", ".", ":", '"', "/*", "*/", "//",
              "\n", " ", "let ", "fn ", "kernel k(", "launch grid(", "=> ",
              "const ", "import ", "0x", "1.5", "\u00e9", "\U0001d11e", "\r",
              "pipeline p(2) {", "consume p as s {", "[", "]", "*", "_"]
    methods = ["hover", "definition", "references", "documentHighlight",
               "prepareRename", "completion", "signatureHelp"]
    s = Server()
    text = PROGRAM
    s.open(URI, text)
    for n in range(int(os.environ.get("LSP_EDITS", "300"))):
        lines = text.split("\n")
        line = draw.randrange(len(lines) + 1)
        end = min(line + draw.randrange(3), len(lines))
        a, b = draw.randrange(60), draw.randrange(60)
        r = range_of(line, a, end, b) if (line, a) <= (end, b) else \
            range_of(line, b, end, a)
        new = "".join(draw.choice(pieces) for _ in range(draw.randrange(5)))
        s.change(URI, n + 2, {"range": r, "text": new})
        if draw.random() < 0.05:
            s.change(URI, n + 2, {"text": PROGRAM})
        for _ in range(3):
            s.at(draw.choice(methods), URI, draw.randrange(len(lines) + 1),
                 draw.randrange(60), context={"includeDeclaration": True})
        if n % 10 == 0:
            for m in ("documentSymbol", "foldingRange", "formatting"):
                s.ask("textDocument/" + m, {"textDocument": {"uri": URI}})
    s.change(URI, 100000, {"text": PROGRAM})
    found = s.diagnostics(URI, 100000)
    assert errors(found) == [], found
    return s.stop()


def test_random_bytes():
    draw = random.Random(int(os.environ.get("LSP_SEED", "2")))
    for _ in range(20):
        s = Server()
        data = bytearray()
        for _ in range(40):
            body = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "none",
                               "params": {"a": [1, 2]}}).encode()
            data += b"Content-Length: %d\r\n\r\n" % len(body) + body
        for _ in range(draw.randrange(1, 30)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        try:
            s.raw(bytes(data))
            s.process.stdin.close()
        except BrokenPipeError:
            pass
        assert s.process.wait(SECONDS) in (0, 1)
        s.kill()
    return None


def test_interrupted_check():
    """A message that comes during a check is answered at once."""
    s = Server()
    text = ("kernel k(x: tensor(f32, N)) {\n    launch grid(1) block(1) {\n"
            "        const for i in 0..%d { x[i] = f32(i); }\n    }\n}\n")
    s.open(URI, text % 100000)
    time.sleep(0.5)
    start = time.monotonic()
    assert "kernel k" in s.hover(URI, 0, 7)
    assert time.monotonic() - start < 5
    s.change(URI, 2, {"text": text % 2})
    found = s.diagnostics(URI, 2)
    assert errors(found) == [], found
    return s.stop()


def main():
    tests = [(n, f) for n, f in globals().items() if n.startswith("test_")]
    passed = failed = 0
    for name, test in tests:
        if len(sys.argv) > 2 and name not in sys.argv[2:]:
            continue
        try:
            s = test()
            if s is not None:
                s.kill()
            passed += 1
        except Exception as error:  # noqa: BLE001
            failed += 1
            print("FAIL %s: %s: %s" % (name, type(error).__name__, error))
            line = error.__traceback__
            while line is not None:
                print("    line %d" % line.tb_lineno)
                line = line.tb_next
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    CUTEC = sys.argv[1]
    sys.exit(main())
