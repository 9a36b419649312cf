import base64
import ctypes
import heapq
import json
import math
import operator
import re
import struct
import sys
import threading
import zlib

_BUNDLE = json.loads(zlib.decompress(base64.b64decode("".join("""
@BUNDLE@
""".split("\n")[2:-2]))))


class AttestError(RuntimeError):
    """The problem, a tensor or the machine does not fit the kernels of this file."""


# Expressions over sizes, such as "cdiv(Sq, 128)". Integers are exact. An expression with a float
# is computed in floats as a whole, as attest does.

_TOKEN = re.compile(r"\s*(0x[0-9a-fA-F]+|[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|[A-Za-z_][A-Za-z0-9_.]*|&&|\|\||[<>=!]=|.)")
_LEVELS = [["||"], ["&&"], ["==", "!=", "<", "<=", ">", ">="], ["+", "-"], ["*", "/", "%"]]


class _Parser:
    def __init__(self, text):
        self.tokens = [t for t in _TOKEN.findall(text) if t.strip()] + [""]
        self.at = 0

    def next(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def choice(self):
        c = self.binary(0)
        if self.tokens[self.at] != "?":
            return c
        self.next()
        a = self.choice()
        self.next()  # the colon
        return ("?", c, a, self.choice())

    def binary(self, level):
        if level == len(_LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while self.tokens[self.at] in _LEVELS[level]:
            op = self.next()
            left = (op, left, self.binary(level + 1))
        return left

    def unary(self):
        t = self.next()
        if t in ("-", "!"):
            return ("neg" if t == "-" else "not", self.unary())
        if t == "(":
            inner = self.choice()
            self.next()
            return inner
        if t[0].isdigit():
            if t.startswith("0x"):
                return ("value", int(t, 16))
            return ("value", float(t) if any(c in t for c in ".eE") else int(t))
        if self.tokens[self.at] != "(":
            return ("name", t)
        args = []
        while self.next() != ")":
            args.append(self.choice())
        return (t, *args)


_parsed = {}


def _parse(text):
    if text not in _parsed:
        _parsed[text] = _Parser(text).choice()
    return _parsed[text]


def _has_float(node, env):
    op = node[0]
    if op == "value":
        return isinstance(node[1], float)
    if op == "name":
        return isinstance(env[node[1]], float)
    if op in ("==", "!=", "<", "<=", ">", ">=", "&&", "||", "not", "%", "cdiv"):
        return False  # these are expressions of their own
    return any(_has_float(n, env) for n in (node[2:] if op == "?" else node[1:]))


def _compute(node, env, floats):
    op = node[0]
    if op == "value" or op == "name":
        v = node[1] if op == "value" else env[node[1]]
        return float(v) if floats else v
    if op == "?":
        return _compute(node[2] if _value(node[1], env) else node[3], env, floats)
    if op == "&&":
        return int(bool(_value(node[1], env)) and bool(_value(node[2], env)))
    if op == "||":
        return int(bool(_value(node[1], env)) or bool(_value(node[2], env)))
    if op == "not":
        return int(not _value(node[1], env))
    if op in ("==", "!=", "<", "<=", ">", ">="):
        f = _has_float(node[1], env) or _has_float(node[2], env)
        a, b = _compute(node[1], env, f), _compute(node[2], env, f)
        return int({"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[op])
    if op in ("%", "cdiv"):
        a, b = _value(node[1], env), _value(node[2], env)
        return a % b if op == "%" else -(-a // b)
    args = [_compute(n, env, floats) for n in node[1:]]
    if op == "neg":
        return -args[0]
    if op == "min":
        return min(args)
    if op == "max":
        return max(args)
    a, b = args
    if op == "+":
        return a + b
    if op == "-":
        return a - b
    if op == "*":
        return a * b
    return a / b if floats else a // b


def _value(node, env):
    return _compute(node, env, _has_float(node, env))


def _int(text, env):
    return int(_value(_parse(text), env))


_BYTES = {"u8": 1, "i8": 1, "e4m3": 1, "e5m2": 1, "u8-legacy": 1, "u16": 2, "i16": 2, "f16": 2, "bf16": 2,
          "u32": 4, "i32": 4, "f32": 4, "tf32": 4, "u64": 8, "i64": 8, "f64": 8}
_STRUCT = {"u8": "<B", "i8": "<b", "u16": "<H", "i16": "<h", "u32": "<I", "i32": "<i", "u64": "<Q", "i64": "<q",
           "f32": "<f", "f64": "<d"}
_MAP_TYPES = {"u8": 0, "u16": 1, "u32": 2, "i32": 3, "u64": 4, "i64": 5, "f16": 6, "f32": 7, "f64": 8, "bf16": 9, "tf32": 11}
_SWIZZLES = {"": 0, "none": 0, "32B": 1, "64B": 2, "128B": 3}


def _three(list_, env):
    n = [_int(e, env) for e in list_] + [1, 1, 1]
    return n[:3]


def bind(k, env, resident=None):
    """Evaluate the call of a kernel: sizes of its memory, and its launches without addresses."""
    env = dict(env)
    for let in k.get("let", []):
        env[let["name"]] = _value(_parse(let["value"]), env)
    memory = []
    for o in k["operands"]:
        dims = [_int(e, env) for e in o["dims"]]
        strides = [_int(e, env) for e in o.get("strides", [])]
        last = 1 + sum(max(n - 1, 0) * s for n, s in zip(dims, strides)) if strides else math.prod(dims)
        memory.append({"name": o["name"], "role": o["role"], "init": o.get("init", ""), "bytes": max(last * _BYTES[o["type"]], 1)})
        step = 1
        for i in range(len(dims) - 1, -1, -1):
            step = strides[i] if strides else step
            env["%s.stride%d" % (o["name"], i)] = step
            step *= dims[i]
    steps = []
    for l in k["launches"]:
        if l.get("when") and not _value(_parse(l["when"]), env):
            continue
        s = {"entry": l["entry"], "block": _three(l["block"], env), "cluster": _three(l.get("cluster", []), env),
             "shared": _int(l["shared"], env) if l.get("shared") else 0,
             "cooperative": l.get("cooperative", False), "dependent": l.get("dependent", False)}
        blocks = max(resident(s), 1) if resident and any("BlocksPerSM" in e for e in l["grid"]) else 1
        s["grid"] = _three(l["grid"], dict(env, BlocksPerSM=blocks))
        s["args"] = [_bind_arg(a, env) for a in l["args"]]
        steps.append(s)
    return {"memory": memory, "steps": steps}


def _bind_arg(a, env):
    if "pointer" in a:
        return {"pointer": a["pointer"]}
    if "tensormap" in a:
        m = a["tensormap"]
        dims = [_int(e, env) for e in m["dims"]]
        given = [_int(e, env) for e in m.get("strides", [])]
        strides, step = [], _BYTES[m["type"]]
        for i in range(len(dims) - 1):
            step = given[i] if given else step * dims[i]
            strides.append(step)
        return {"map": m["operand"], "type": _MAP_TYPES[m["type"]], "dims": dims, "strides": strides,
                "box": [_int(e, env) for e in m["box"]], "swizzle": _SWIZZLES[m.get("swizzle", "")],
                "fill": 1 if m.get("fill") == "nan" else 0}
    (kind, text), = a.items()
    if kind[0] == "f":
        return {"value": struct.pack(_STRUCT[kind], _compute(_parse(text), env, True))}
    return {"value": struct.pack(_STRUCT[kind], _int(text, env))}


class Problem:
    """What is computed. The names are those of the fields of problem.Attention.

    queries and keys say how the sequences of a batch lie in memory: "" is all of one length,
    "padded", "packed" or "paged".
    """

    def __init__(self, B, H, Hkv, Sq, Skv, D, output, *, format=None, causal=False, scale=None, window=(-1, -1), softcap=0.0, lse=False,
                 sinks=False, layout="BHSD", queries="", keys="", total_q=None, total_kv=None, page_size=0, pages=0, max_pages=0):
        left, right = window
        if causal and left >= 0:
            causal, right = False, 0  # the same mask, written as a window
        limited = left >= 0 or right >= 0
        ragged = bool(queries or keys)
        self.env = {
            "B": B, "H": H, "Hkv": Hkv, "Sq": Sq, "S": Sq, "Skv": Skv, "D": D, "softcap": float(softcap),
            "window_left": left, "window_right": right, "page_size": page_size, "pages": pages, "max_pages": max_pages, "kv_pages": pages,
            "total_q": B * Sq if total_q is None else total_q, "total_kv": B * Skv if total_kv is None else total_kv,
            "min_q": 0 if ragged else Sq, "min_kv": 0 if ragged else Skv, "scale_block_q": 0, "scale_block_kv": 0,
            "scale": 1 / math.sqrt(D) if scale is None else float(scale)}
        self.facts = {"D": str(D), "format": format or _BUNDLE["kernels"][0]["fixed"]["format"], "output": output, "scaling": "per-head", "layout": layout,
                      "mask": "causal" if causal else "window" if limited else "none", "lse": "true" if lse else "false"}
        for name, value in (("sinks", "true" if sinks else ""), ("queries", queries), ("keys", keys)):
            if value:
                self.facts[name] = value
        self.uses = [f for f, used in (
            ("grouped-heads", H != Hkv), ("cross-lengths", Sq != Skv), ("causal", causal), ("lse", lse), ("scale", scale is not None),
            ("window", limited), ("softcap", softcap != 0), ("sinks", sinks), ("ragged", ragged), ("paged", keys == "paged")) if used]


def _serves(k, problem, env):
    """Return None if a kernel computes a problem, or the reason why it does not."""
    for name, want in k["fixed"].items():
        have = problem.facts.get(name, "none")
        if have != want:
            return "%s is %s, the kernel is written for %s" % (name, have, want)
    for feature in problem.uses:
        if feature not in k.get("supports", []):
            return "it does not support %s" % feature
    env = dict(env)
    for let in k.get("let", []):
        env[let["name"]] = _value(_parse(let["value"]), env)
    for r in k.get("require", []):
        if not _value(_parse(r["holds"]), env):
            return r.get("why") or "it needs " + r["holds"]
    return None


def _tiles_of(rows, t, env):
    """Return the KV tiles of a block whose query rows end before rows."""
    keys = max(rows + env["Skv"] - env["Sq"], 0) if t["causal"] else env["Skv"]
    return -(-(-(-keys // t["keys"])) // t["split"])


def _busy(t, env):
    """Return how long the place for a block is busy that ends last. Package hopper of attest says why."""
    rounds, item, tile = env["rounds"], env["item"], env["tile"]
    most = _tiles_of(env["Sq"], t, env)
    if not t["causal"]:
        return rounds * (item + most * tile)
    per_head = -(-env["Sq"] // t["rows"])
    blocks = env["B"] * env["H"] * per_head * t["split"]
    if blocks > t["counted"]:
        return rounds * item + max(rounds * (_tiles_of(min(t["rows"], env["Sq"]), t, env) + most) // 2, most) * tile
    # Blocks start with the longest rows of all heads.
    lengths = [item + _tiles_of(min((i + 1) * t["rows"], env["Sq"]), t, env) * tile for i in range(per_head - 1, -1, -1)]
    places = env["SMs"] * t["per_sm"]
    if t["persistent"]:  # the blocks are dealt one item each, forwards and backwards in turn
        heads = blocks // per_head
        sums = [0] * places
        for i in range(blocks):
            n, place = divmod(i, places)
            sums[places - 1 - place if n % 2 else place] += lengths[i // heads]
        return max(sums)
    free = [0] * max(places // t["split"], 1)  # a heap: when each place is free
    last = 0
    for n in lengths:
        for _ in range(blocks // t["split"] // per_head):
            end = free[0] + n
            heapq.heapreplace(free, end)
            last = max(last, end)
    return last


def _cost(c, env):
    """Return the estimated cost of a choice, or None if its condition does not hold."""
    if not _value(_parse(c["when"]), env):
        return None
    if "cost" not in c:
        return 0
    env = dict(env)
    for let in c.get("let", []):
        env[let["name"]] = _value(_parse(let["value"]), env)
    if "tiles" in c:
        env["busy"] = _busy(c["tiles"], env)
    return _value(_parse(c["cost"]), env)


def choose(problem, env):
    """Return the index of the best kernel for a problem, as attest chooses it: the first family with a kernel that serves
    the problem, and its kernel with the lowest cost. env has the names of the problem and SMs."""
    reasons = [_serves(k, problem, env) for k in _BUNDLE["kernels"]]
    best, family, least = None, None, None
    for c in _BUNDLE["choices"]:
        if reasons[c["kernel"]] is None and family in (None, c["family"]):
            cost = _cost(c, env)
            if cost is not None and (least is None or cost < least):
                best, family, least = c["kernel"], c["family"], cost
    if best is None:
        have = sorted({", ".join("%s %s" % (n, v) for n, v in k["fixed"].items() if n not in ("format", "scaling")) for k in _BUNDLE["kernels"]})
        # A kernel that only a rule excludes is nearer than one that is written for something else.
        refused = {r for r in reasons if r is not None}
        why = sorted({r for r in refused if " is written for " not in r and not r.startswith("it does not support")}) or sorted(refused)
        raise AttestError("no kernel of this file computes B=%d H=%d Hkv=%d Sq=%d Skv=%d D=%d with %s: %s. This file has kernels for: %s" % (
            env["B"], env["H"], env["Hkv"], env["Sq"], env["Skv"], env["D"], ", ".join("%s %s" % i for i in problem.facts.items()),
            "; ".join(why), "; ".join(have)))
    return best


# The driver. PyDLL keeps the interpreter lock during a call, so that the argument slots of a plan
# need no lock of their own.

_lib = None


def _driver():
    global _lib
    if _lib is None:
        try:
            _lib = ctypes.PyDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
        except OSError as e:
            raise AttestError("the CUDA driver cannot be loaded: %s" % e) from None
    return _lib


def _call(name, *args):
    code = getattr(_driver(), name)(*args)
    if code:
        text = ctypes.c_char_p()
        _driver().cuGetErrorString(code, ctypes.byref(text))
        raise AttestError("%s: error %d, %s" % (name, code, (text.value or b"unknown").decode()))


class _Attr(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_char * 4), ("value", ctypes.c_uint * 16)]


class _Config(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
                ("stream", ctypes.c_void_p), ("attrs", ctypes.POINTER(_Attr)), ("count", ctypes.c_uint)]


_modules = {}
_lock = threading.Lock()


def _attribute(device, which):
    v = ctypes.c_int()
    _call("cuDeviceGetAttribute", ctypes.byref(v), which, device)
    return v.value


def _check_device(device):
    have = 10 * _attribute(device, 75) + _attribute(device, 76)
    target = _BUNDLE["chip"]["target"]
    want = int(re.sub(r"[^0-9]", "", target))
    if have < want or target.endswith("a") and have != want:
        raise AttestError("the kernels of this file are written for %s, this GPU is sm_%d: export again with attest export --chip" % (target, have))


def _load(device, index):
    """Compile a kernel for a device, once. The context of the device must be current."""
    key = (device, index)
    if key in _modules:
        return _modules[key]
    with _lock:
        if key in _modules:
            return _modules[key]
        _check_device(device)
        k = _BUNDLE["kernels"][index]
        module = ctypes.c_void_p()
        log = ctypes.create_string_buffer(8192)
        options = (ctypes.c_int * 2)(5, 6)  # error log buffer, its size
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), len(log))
        code = _driver().cuModuleLoadDataEx(ctypes.byref(module), k["ptx"].encode(), 2, options, values)
        if code:
            raise AttestError("the driver cannot compile %s: error %d\n%s" % (k["name"], code, log.value.decode(errors="replace")))
        functions = {}
        for l in k["launches"]:
            f = ctypes.c_void_p()
            _call("cuModuleGetFunction", ctypes.byref(f), module, l["entry"].encode())
            functions[l["entry"]] = f
        _modules[key] = functions
        return functions


class Plan:
    """The best kernel for one problem on one device. run takes addresses and a stream."""

    def __init__(self, device, problem):
        env = dict(problem.env, SMs=_attribute(device, 16))
        index = choose(problem, env)
        self.kernel = _BUNDLE["kernels"][index]
        functions = _load(device, index)

        def resident(s):
            n = ctypes.c_int()
            f = functions[s["entry"]]
            if s["shared"] > 0:
                _call("cuFuncSetAttribute", f, 8, s["shared"])
            _call("cuOccupancyMaxActiveBlocksPerMultiprocessor", ctypes.byref(n), f, math.prod(s["block"]), ctypes.c_size_t(s["shared"]))
            return n.value

        bound = bind(self.kernel, env, resident)
        self.workspaces = [m for m in bound["memory"] if m["role"] == "workspace"]
        self.names = [m["name"] for m in bound["memory"]]
        self.launch = _driver().cuLaunchKernelEx
        self.kept = {}  # workspaces that are zeroed once, by name and stream
        self.steps = [self._prepare(s, functions[s["entry"]]) for s in bound["steps"]]

    def _prepare(self, s, function):
        if s["shared"] > 0:
            _call("cuFuncSetAttribute", function, 8, s["shared"])
        attrs = (_Attr * 3)()
        count = 0
        # The driver knows the cluster of a kernel that was compiled for one.
        if math.prod(s["cluster"]) > 1 and ".reqnctapercluster" not in self.kernel["ptx"]:
            attrs[count].id = 4
            attrs[count].value[0:3] = s["cluster"]
            count += 1
        for which, on in ((2, s["cooperative"]), (6, s["dependent"])):
            if on:
                attrs[count].id = which
                attrs[count].value[0] = 1
                count += 1
        config = _Config((ctypes.c_uint * 3)(*s["grid"]), (ctypes.c_uint * 3)(*s["block"]), s["shared"], None, attrs, count)
        pointers = (ctypes.c_void_p * len(s["args"]))()
        values, slots, maps = [], [], []
        for i, a in enumerate(s["args"]):
            if "value" in a:
                values.append(ctypes.create_string_buffer(a["value"], len(a["value"])))
                pointers[i] = ctypes.addressof(values[-1])
            elif "pointer" in a:
                slots.append((i, self.names.index(a["pointer"])))
            else:
                maps.append((i, self.names.index(a["map"]), a))
        held = (ctypes.c_uint64 * len(slots))()  # the arguments that are addresses
        for j, (i, _) in enumerate(slots):
            pointers[i] = ctypes.addressof(held) + 8 * j
        return function, config, ctypes.byref(config), pointers, held, _getter([at for _, at in slots]), _Maps(maps), (values, attrs)

    def run(self, addresses, stream):
        """Queue the launches. addresses are those of the operands, in the order of names."""
        for function, config, ref, pointers, held, take, maps, _ in self.steps:
            if take is not None:
                held[:] = take(addresses)
            if maps.take is not None:
                key = maps.take(addresses)
                found = maps.known.get(key) or maps.encode(key)
                for i, address in zip(maps.positions, found):
                    pointers[i] = address
            config.stream = stream
            code = self.launch(ref, function, pointers, None)
            if code:
                _call_failed("cuLaunchKernelEx", code)


def _getter(indexes):
    """Return a function that takes elements of a list, or None if it takes none."""
    if len(indexes) == 1:
        at = indexes[0]
        return lambda list_: (list_[at],)
    return operator.itemgetter(*indexes) if indexes else None


class _Maps:
    """The tensor maps of a launch. They are encoded once for each combination of addresses."""

    def __init__(self, maps):
        self.list = [m[2] for m in maps]
        self.take = _getter([m[1] for m in maps])
        self.known = {}
        self.positions = [m[0] for m in maps]

    def encode(self, addresses):
        if len(self.known) > 4096:
            self.known.clear()
        memory = [_encode(a, at) for a, at in zip(self.list, addresses)]
        self.known[addresses] = found = _Found(at for _, at in memory)
        found.memory = memory
        return found


class _Found(list):
    """The addresses of encoded tensor maps, and their memory."""


def _call_failed(name, code):
    text = ctypes.c_char_p()
    _driver().cuGetErrorString(code, ctypes.byref(text))
    raise AttestError("%s: error %d, %s" % (name, code, (text.value or b"unknown").decode()))


def _encode(a, address):
    """Return the memory of a tensor map and the address of the map, which is aligned to 64 bytes."""
    memory = ctypes.create_string_buffer(128 + 64)
    at = (ctypes.addressof(memory) + 63) & ~63
    n = len(a["dims"])
    _call("cuTensorMapEncodeTiled", ctypes.c_void_p(at), a["type"], n, ctypes.c_void_p(address), (ctypes.c_uint64 * n)(*a["dims"]),
          (ctypes.c_uint64 * n)(*a["strides"]), (ctypes.c_uint32 * n)(*a["box"]), (ctypes.c_uint32 * n)(*([1] * n)), 0, a["swizzle"], 0, a["fill"])
    return memory, at
