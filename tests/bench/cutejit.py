"""The little of libcutejit that the benchmarks need, by ctypes.

    ctx = Context()                       # CUTEJIT_LIBRARY or ../../build/libcutejit.so
    launch = ctx.prepare("relu.cute", "relu", {"x": x, "y": y}, {"T": "f16"})
    launch(stream)

Tensors are torch tensors on the GPU; their memory must stay.
"""
import ctypes as C
import os


class Tensor(C.Structure):
    _fields_ = [("data", C.c_void_p), ("device_type", C.c_int32), ("device_id", C.c_int32), ("ndim", C.c_int32),
                ("code", C.c_uint8), ("bits", C.c_uint8), ("lanes", C.c_uint16), ("shape", C.POINTER(C.c_int64)),
                ("strides", C.POINTER(C.c_int64)), ("byte_offset", C.c_uint64)]


class Value(C.Union):
    _fields_ = [("tensor", C.POINTER(Tensor)), ("integer", C.c_int64), ("number", C.c_double), ("text", C.c_char_p)]


class Argument(C.Structure):
    _fields_ = [("name", C.c_char_p), ("kind", C.c_int), ("count", C.c_size_t), ("value", Value)]


class Constant(C.Structure):
    _fields_ = [("name", C.c_char_p), ("text", C.c_char_p)]


class CompileOptions(C.Structure):
    _fields_ = [("size", C.c_size_t), ("target", C.c_char_p), ("until", C.c_int), ("level", C.c_int),
                ("checked", C.c_int), ("lineinfo", C.c_int), ("ptx", C.c_int), ("member", C.c_uint),
                ("constants", C.POINTER(Constant)), ("constant_count", C.c_size_t),
                ("arguments", C.POINTER(Argument)), ("argument_count", C.c_size_t)]


ARG_TENSOR, ARG_INT, ARG_FLOAT = 1, 3, 4
DTYPES = {"torch.float32": (2, 32), "torch.float16": (2, 16), "torch.bfloat16": (4, 16), "torch.float64": (2, 64),
          "torch.int8": (0, 8), "torch.int32": (0, 32), "torch.int64": (0, 64), "torch.uint8": (1, 8),
          "torch.uint32": (1, 32), "torch.float8_e4m3fn": (10, 8), "torch.float8_e5m2": (12, 8)}


class Context:
    def __init__(self):
        here = os.path.dirname(os.path.abspath(__file__))
        path = os.environ.get("CUTEJIT_LIBRARY", os.path.join(here, "../../build/libcutejit.so"))
        self.lib = C.CDLL(path)
        self.lib.cutejit_report_text.restype = C.c_char_p
        self.lib.cutejit_context_report.restype = C.c_void_p
        self.lib.cutejit_kernel_about.restype = C.c_void_p
        self.handle = C.c_void_p()
        self.check(self.lib.cutejit_context_create(None, C.byref(self.handle)))
        self.modules = {}

    def check(self, status):
        if status == 0:
            return
        text = b""
        if self.handle:
            report = self.lib.cutejit_context_report(self.handle)
            text = self.lib.cutejit_report_text(C.c_void_p(report), 0)
        raise RuntimeError("cutejit: status %d\n%s" % (status, text.decode()))

    def module(self, path):
        if path not in self.modules:
            m = C.c_void_p()
            self.check(self.lib.cutejit_module_from_file(self.handle, path.encode(), C.byref(m)))
            self.modules[path] = m
        return self.modules[path]

    def compile(self, path, kernel, args, consts, member=None):
        """(kernel, its arguments, what they point to)"""
        keep = []
        arguments = (Argument * len(args))()
        for a, (name, v) in zip(arguments, args.items()):
            a.name = name.encode()
            a.count = 1
            if isinstance(v, int):
                a.kind, a.value.integer = ARG_INT, v
            elif isinstance(v, float):
                a.kind, a.value.number = ARG_FLOAT, v
            else:
                t = Tensor()
                t.data, t.device_type, t.device_id, t.ndim = v.data_ptr(), 2, v.device.index or 0, v.dim()
                t.code, t.bits = DTYPES[str(v.dtype)]
                t.lanes = 1
                t.shape = (C.c_int64 * v.dim())(*v.shape)
                t.strides = (C.c_int64 * v.dim())(*v.stride())
                a.kind, a.value.tensor = ARG_TENSOR, C.pointer(t)
                keep.append((t, v))
        constants = (Constant * max(1, len(consts)))()
        for c, (name, text) in zip(constants, consts.items()):
            c.name, c.text = name.encode(), text.encode()
        o = CompileOptions()
        o.size = C.sizeof(o)
        o.constants, o.constant_count = constants, len(consts)
        o.arguments, o.argument_count = arguments, len(args)
        o.member = 0 if member is None else member + 1
        k = C.c_void_p()
        self.check(self.lib.cutejit_compile(self.module(path), kernel.encode(), C.byref(o), C.byref(k)))
        return k, arguments, keep

    def prepare(self, path, kernel, args, consts, member=None):
        k, arguments, keep = self.compile(path, kernel, args, consts, member)
        launch = C.c_void_p()
        self.check(self.lib.cutejit_prepare(k, arguments, len(args), C.byref(launch)))
        return Launch(self, launch, keep)


class Launch:
    def __init__(self, context, handle, keep):
        self.context, self.handle, self.keep = context, handle, keep
        self.run = context.lib.cutejit_launch_run

    def __call__(self, stream=0):
        self.context.check(self.run(self.handle, C.c_void_p(stream)))
