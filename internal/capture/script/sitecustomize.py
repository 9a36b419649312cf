"""Records the kernel launches of a Python process as launch files.

attest capture puts the folder of this file first on PYTHONPATH, so Python imports it before the
program starts. It waits until the program imports Triton, and then surrounds every launch: the
memory that the parameters point to is saved before and after it. A launch that cannot be recorded
is reported and runs as always.
"""

import ctypes
import hashlib
import importlib
import importlib.abc
import importlib.util
import json
import os
import re
import struct
import sys
import threading

OUT = os.environ["ATTEST_CAPTURE_OUT"]
LIMIT = int(os.environ["ATTEST_CAPTURE_LIMIT"])
PER_KERNEL = int(os.environ["ATTEST_CAPTURE_PER_KERNEL"])
MOST_BYTES = int(os.environ["ATTEST_CAPTURE_BYTES"])
WANTED = re.compile(os.environ.get("ATTEST_CAPTURE_KERNEL", ""))

lock = threading.RLock()
recorded = 0
launches_of = {}  # the text of a kernel: how many of its launches were recorded
reported = set()  # the reasons that were reported, with their kernels

# The formats of struct for the types of Triton that are not pointers.
FORMATS = {
    "i1": "<b", "i8": "<b", "i16": "<h", "i32": "<i", "i64": "<q",
    "u1": "<B", "u8": "<B", "u16": "<H", "u32": "<I", "u64": "<Q",
    "fp16": "<e", "fp32": "<f", "f32": "<f", "fp64": "<d",
}
NAMES = {
    "i8": "i8", "i16": "i16", "i32": "i32", "i64": "i64", "u8": "u8", "u16": "u16", "u32": "u32", "u64": "u64",
}
TENSOR_TYPES = {
    "torch.float16": "f16", "torch.bfloat16": "bf16", "torch.float32": "f32", "torch.float64": "f64",
    "torch.int32": "i32", "torch.int64": "i64", "torch.int16": "u16", "torch.uint16": "u16",
    "torch.uint32": "u32", "torch.uint64": "u64",
}
SWIZZLES = ["none", "32B", "64B", "128B"]
SIZES = {"8": 1, "16": 2, "32": 4, "64": 8}


class Unrecordable(Exception):
    """Why a launch cannot be recorded."""


def say(entry):
    """Adds a line to the index. A line is written at once, so processes do not mix theirs."""
    with open(os.path.join(OUT, "launches.jsonl"), "a") as f:
        f.write(json.dumps(entry) + "\n")


def skip(kernel, why):
    """Reports a reason once per kernel."""
    with lock:
        if (kernel, why) not in reported:
            reported.add((kernel, why))
            say({"kernel": kernel, "skipped": why})


def keep(name, data):
    """Writes a file, unless it is there: the names of files with the same content are equal."""
    path = os.path.join(OUT, name)
    if not os.path.exists(path):
        temporary = "%s.%d.tmp" % (path, os.getpid())
        with open(temporary, "wb") as f:
            f.write(data)
        os.replace(temporary, path)
    return name


def keep_bytes(data):
    return keep(hashlib.sha256(data).hexdigest()[:16] + ".bin", data)


def declared(text, entry):
    """The sizes of the parameters that the PTX declares for an entry."""
    head = re.search(r"\.entry\s+" + re.escape(entry) + r"\s*\(([^)]*)\)", text)
    if head is None:
        raise Unrecordable("its PTX has no entry " + entry)
    sizes = []
    for one in head.group(1).split(","):
        match = re.search(r"\.param\b.*?\.[a-z]+?(8|16|32|64)\b(?:.*\[(\d+)\])?", one, re.S)
        if match is None:
            if one.strip():
                raise Unrecordable("its PTX declares a parameter that is not understood: " + one.strip())
            continue
        sizes.append(SIZES[match.group(1)] * int(match.group(2) or 1))
    return sizes


class Memory:
    """The buffers of one launch: the storages of tensors, by their addresses."""

    def __init__(self):
        self.storages = {}
        self.total = 0

    def at(self, tensor):
        """Returns the name of the buffer in which a tensor lies, and its offset there."""
        while hasattr(tensor, "base") and not hasattr(tensor, "untyped_storage"):
            tensor = tensor.base
        if not hasattr(tensor, "untyped_storage"):
            raise Unrecordable("a pointer is a %s, not a tensor" % type(tensor).__name__)
        storage = tensor.untyped_storage()
        start = storage.data_ptr()
        if start not in self.storages:
            self.total += storage.nbytes()
            if self.total > MOST_BYTES:
                raise Unrecordable("it uses more than %d bytes, the limit of --bytes" % MOST_BYTES)
            self.storages[start] = ("m%d" % len(self.storages), tensor.device, storage)
        return self.storages[start][0], tensor.data_ptr() - start

    def read(self):
        """Returns the content of all buffers, by name."""
        import torch
        content = {}
        for name, device, storage in self.storages.values():
            view = torch.empty(0, dtype=torch.uint8, device=device).set_(storage).cpu()
            content[name] = ctypes.string_at(view.data_ptr(), storage.nbytes())
        return content


def flatten(types, values):
    """Yields the types and values that become parameters: no constants, and tuples in pieces."""
    for kind, value in zip(types, values):
        if isinstance(kind, tuple):
            yield from flatten(kind, value)
        elif kind != "constexpr":
            yield kind, value


def scalar(kind, value, size):
    """Returns the parameter for a number."""
    if kind == "bf16":
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        return {"u16": (bits + 0x7fff + (bits >> 16 & 1)) >> 16}
    data = struct.pack(FORMATS[kind], value)
    if len(data) != size:
        raise Unrecordable("a parameter of type %s has %d bytes" % (kind, size))
    if kind in NAMES:
        return {NAMES[kind]: int(value)}
    return {"bytes": data.hex()}


def pointer(memory, value):
    if value is None:
        return {"u64": 0}
    if isinstance(value, int):
        if value == 0:
            return {"u64": 0}
        raise Unrecordable("a parameter is a raw address, whose memory is not known")
    name, offset = memory.at(value)
    return {"ref": name, "offset": offset} if offset else {"ref": name}


def descriptor(memory, value, meta):
    """Returns the parameters for a tensor descriptor: the tensor map, the extents, the strides."""
    if meta is None:
        raise Unrecordable("a tensor descriptor is not a tensor map on this GPU")
    if meta.get("fp4_padded") or meta.get("is_im2col"):
        raise Unrecordable("a tensor map has padded 4-bit elements or is im2col")
    name, offset = memory.at(value.base)
    size = value.base.element_size()
    kind = TENSOR_TYPES.get(str(value.base.dtype), "u8" if size == 1 else None)
    if kind is None:
        raise Unrecordable("a tensor map has elements of type %s" % value.base.dtype)
    if getattr(value, "round_f32_to_tf32", False):
        kind = "tf32"
    where = {"ref": name}
    if offset:
        where["offset"] = offset
    tensor = {
        "type": kind, "buffer": where,
        "dims": [int(n) for n in reversed(value.shape)],
        "strides": [int(n) * size for n in reversed(value.strides[:-1])],
        "box": [int(n) for n in reversed(meta["block_size"])],
        "swizzle": SWIZZLES[meta["swizzle"]],
        "fill": "nan" if getattr(value, "padding", "zero") == "nan" else "zero",
    }
    return [{"tensormap": tensor}] + [{"i32": int(n)} for n in value.shape] + [{"i64": int(n)} for n in value.strides]


def parameters(kernel, blocks, values, memory):
    """Returns the parameters of a Triton kernel in the form of a launch file."""
    meta = kernel.metadata
    sizes = declared(kernel.asm["ptx"], meta.name)
    descriptors = iter(getattr(meta, "tensordesc_meta", None) or [])
    params = []
    for kind, value in flatten(kernel.src.signature.values(), values):
        if kind.startswith("tensordesc"):
            params += descriptor(memory, value, next(descriptors, None))
        elif kind.startswith("*"):
            params.append(pointer(memory, value))
        elif kind in FORMATS or kind == "bf16":
            if len(params) >= len(sizes):
                raise Unrecordable("it has %d parameters, and more values are given" % len(sizes))
            params.append(scalar(kind, value, sizes[len(params)]))
        else:
            raise Unrecordable("a parameter has the type " + kind)
    # After its own parameters a kernel has pointers to scratch memory.
    for field in ("global_scratch_size", "profile_scratch_size"):
        if len(params) < len(sizes):
            size = getattr(meta, field, 0) or 0
            params.append({"zeros": size * blocks} if size else {"u64": 0})
    if len(params) != len(sizes):
        raise Unrecordable("it has %d parameters, and %d values are given" % (len(sizes), len(params)))
    return params


def describe(kernel, grid, values, memory):
    """Returns the launch file of a launch, without the contents of buffers."""
    meta = kernel.metadata
    text = kernel.asm["ptx"]
    clusters = getattr(meta, "num_ctas", 1) or 1
    grid = [int(n) for n in grid]
    grid[0] *= clusters
    threads = re.search(r"\.reqntid\s+(\d+)", text)
    launch = {
        "entry": meta.name, "grid": grid, "block": [int(threads.group(1)) if threads else meta.num_warps * 32],
        "shared": meta.shared,
        "params": parameters(kernel, grid[0] * grid[1] * grid[2], values, memory),
    }
    if clusters > 1:
        launch["cluster"] = [clusters]
    if getattr(meta, "launch_cooperative_grid", False):
        launch["cooperative"] = True
    return launch


def save(launch, text, before, after, memory):
    """Writes a launch file and what it names, and adds it to the index."""
    global recorded
    ptx = keep("%s-%s.ptx" % (safe(launch["entry"]), hashlib.sha256(text.encode()).hexdigest()[:8]), text.encode())
    launch["buffers"] = {
        name: {"buffer": keep_bytes(data), "expect": keep_bytes(after[name])} for name, data in before.items()
    }
    with lock:
        recorded += 1
        number = recorded
    name = "%d-%04d-%s.json" % (os.getpid(), number, safe(launch["entry"]))
    keep(name, (json.dumps(launch, indent=1) + "\n").encode())
    say({"kernel": launch["entry"], "launch": name, "ptx": ptx, "grid": launch["grid"], "block": launch["block"],
         "shared": launch["shared"], "bytes": memory.total})


def safe(name):
    """A name that may be a part of a file's name."""
    return re.sub(r"[^A-Za-z0-9_]", "_", name)[:60]


def wanted(kernel):
    """Whether a launch of the kernel is to be recorded. It counts the launch."""
    if not WANTED.search(kernel.metadata.name):
        return False
    with lock:
        if recorded >= LIMIT:
            skip(kernel.metadata.name, "%d launches are recorded, the limit of --limit" % LIMIT)
            return False
        text = kernel.asm["ptx"]
        launches_of[text] = launches_of.get(text, 0) + 1
        return launches_of[text] <= PER_KERNEL


def surrounded(kernel, run):
    """Returns a function that launches the kernel like run, and records the launch."""

    def launch(x, y, z, stream, function, packed, metadata, enter, leave, *values):
        def go():
            return run(x, y, z, stream, function, packed, metadata, enter, leave, *values)

        try:
            if not wanted(kernel):
                return go()
            import torch
            if torch.cuda.is_current_stream_capturing():
                raise Unrecordable("it is part of a CUDA graph")
            memory = Memory()
            described = describe(kernel, (x, y, z), values, memory)
            torch.cuda.synchronize()
            before = memory.read()
        except Exception as e:
            skip(kernel.metadata.name, reason(e))
            return go()
        result = go()
        try:
            torch.cuda.synchronize()
            save(described, kernel.asm["ptx"], before, memory.read(), memory)
        except Exception as e:
            skip(kernel.metadata.name, reason(e))
        return result

    return launch


def reason(e):
    return str(e) if isinstance(e, Unrecordable) else "%s: %s" % (type(e).__name__, e)


def watch_triton(module):
    """Surrounds the launches of compiled Triton kernels."""
    compiled = module.CompiledKernel
    original = compiled.run

    def run(self):
        return surrounded(self, original.__get__(self, type(self)))

    compiled.run = property(run)


WATCHED = {"triton.compiler.compiler": watch_triton}


class Finder(importlib.abc.MetaPathFinder):
    """Finds the modules of WATCHED as Python does, and changes them once they are loaded."""

    def find_spec(self, name, path=None, target=None):
        if name not in WATCHED:
            return None
        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            sys.meta_path.insert(0, self)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def exec_module(module):
                load(module)
                try:
                    WATCHED[name](module)
                except Exception as e:
                    skip(name, reason(e))

            spec.loader.exec_module = exec_module
        return spec


def make_way():
    """Imports the sitecustomize that this one hides, if there is one."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [p for p in sys.path if os.path.abspath(p) != here]
    mine = sys.modules.pop("sitecustomize", None)
    try:
        importlib.import_module("sitecustomize")
    except ImportError:
        if mine is not None:
            sys.modules["sitecustomize"] = mine


sys.meta_path.insert(0, Finder())
make_way()
