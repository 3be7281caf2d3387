"""The line table of a cubin: each line of the program that has machine code,
with the calls that it was inlined through. DWARF 2, section 6.2, with what
NVIDIA's assembler adds: operation 0x90 names the row of the caller and the
function, as an offset into .debug_str."""

import struct
import sys


def sections(data):
    """The sections of a 64-bit little-endian ELF file, by name."""
    offset, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    heads = [struct.unpack_from("<IIQQQQ", data, offset + i * size)
             for i in range(count)]
    strings = heads[names][4]
    for name, _, _, _, begin, length in heads:
        end = data.index(b"\0", strings + name)
        yield data[strings + name:end].decode(), data[begin:begin + length]


class Reader:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def leb(self, signed=False):
        value = shift = 0
        while True:
            b = self.byte()
            value |= (b & 127) << shift
            shift += 7
            if b < 128:
                break
        if signed and b & 64:
            value -= 1 << shift
        return value

    def string(self):
        end = self.data.index(b"\0", self.at)
        text = self.data[self.at:end].decode()
        self.at = end + 1
        return text


def rows(line, strings):
    """(file, line, function, row of the caller), each with machine code."""
    r = Reader(line, 10)
    _, _, base, spread, first = struct.unpack_from("<BBbBB", line, r.at)
    r.at += 5
    lengths = [0] + [r.byte() for _ in range(first - 1)]
    while r.string():
        pass
    files = [""]
    while (name := r.string()):
        files.append(name)
        r.leb(), r.leb(), r.leb()
    found, state = [], None
    while r.at < len(line):
        state = state or {"file": 1, "line": 1, "in": (0, 0)}
        op = r.byte()
        if op >= first:
            state["line"] += base + (op - first) % spread
            op = 1
        if op == 1:
            caller, name = state["in"]
            function = Reader(strings, name).string() if caller else None
            found.append((files[state["file"]], state["line"], function,
                          caller))
        elif op == 3:
            state["line"] += r.leb(signed=True)
        elif op == 4:
            state["file"] = r.leb()
        elif op == 0:
            end = r.leb() + r.at
            what = r.byte()
            if what == 0x90:
                state["in"] = r.leb(), r.leb()
            elif what == 1:
                state = None
            r.at = end
        elif op == 9:
            r.at += 2
        else:
            for _ in range(lengths[op]):
                r.leb()
    return found


def described(found, row):
    name, line, function, caller = found[row]
    if not caller:
        return "%s:%d" % (name, line)
    return "%s:%d in %s, inlined at %s" % (name, line, function,
                                           described(found, caller - 1))


def main():
    with open(sys.argv[1], "rb") as f:
        parts = dict(sections(f.read()))
    found = rows(parts[".debug_line"], parts.get(".debug_str", b"\0"))
    for text in sorted({described(found, i) for i in range(len(found))}):
        print(text)


main()
