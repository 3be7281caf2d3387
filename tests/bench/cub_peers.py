"""cub_peers.cu by ctypes: CUB's device-wide algorithms as contestants of rows.py.

It is built with nvcc where that is found (CUB comes with it), and once: the
library stays beside the build. CUTEC_CUB_PEERS names one that was built before.
"""
import ctypes as C
import os
import shutil
import subprocess

import torch

HERE = os.path.dirname(os.path.abspath(__file__))


def library():
    """Where it is; None, and a line, where it cannot be made."""
    path = os.environ.get("CUTEC_CUB_PEERS")
    if path and os.path.exists(path):
        return path
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if nvcc is None:
        print("    (CUB: there is no nvcc)")
        return None
    place = os.path.join(os.environ.get("TMPDIR", "/tmp"), "cutec-cub-%d" % os.getuid())
    os.makedirs(place, mode=0o700, exist_ok=True)
    path = os.path.join(place, "libcub_peers.so")
    source = os.path.join(HERE, "cub_peers.cu")
    if os.path.exists(path) and os.path.getmtime(path) >= os.path.getmtime(source):
        return path
    made = subprocess.run([nvcc, "-O3", "-std=c++17", "-arch=sm_%d%d" % torch.cuda.get_device_capability(), "-shared",
                           "-Xcompiler", "-fPIC", source, "-o", path + ".new"], capture_output=True, text=True)
    if made.returncode:
        print("    (CUB: %s)" % " ".join(made.stderr.split())[:200])
        return None
    os.rename(path + ".new", path)
    return path


class Cub:
    def __init__(self):
        self.lib = self.looked = None

    def run(self, name, *args):
        """A run of function `name`, arguments tensors and numbers; None without CUB."""
        if not self.looked:
            self.looked = True
            path = library()
            self.lib = C.CDLL(path) if path else None
        if self.lib is None:
            return None
        f = getattr(self.lib, name)
        given = [C.c_void_p(a.data_ptr()) if isinstance(a, torch.Tensor) else C.c_int64(a) for a in args]
        stream = C.c_void_p(torch.cuda.current_stream().cuda_stream)
        much = C.c_size_t()

        def call(scratch):
            status = f(scratch, C.byref(much), *given, stream)
            if status:
                raise RuntimeError("CUB: %s: error %d of CUDA" % (name, status))
        call(None)
        scratch = torch.empty(max(much.value, 1), dtype=torch.uint8, device="cuda")
        return lambda i, keep=(scratch, args): call(C.c_void_p(scratch.data_ptr()))
