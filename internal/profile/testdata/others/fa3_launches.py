"""Makes launch files of what record_fa3.py recorded:  python3 fa3_launches.py FA3.TAR.XZ OUT

OUT gets the PTX of each kernel, a launch file for each problem, whose buffers hold zeros because no kernel branches on
its data, and index.json with the measured times. go test ./internal/profile -run FA3 -fa3 OUT predicts them.
"""
import hashlib, json, os, re, sys, tarfile

TYPES = ["u8", "u16", "u32", "i32", "u64", "i64", "f16", "f32", "f64", "bf16", "f32", "tf32", "tf32"]
SWIZZLES = ["none", "32B", "64B", "128B"]


def only(text, entry):
    """The PTX of one entry: the module without the bodies of the other entries."""
    starts = [m.start() for m in re.finditer(r"(?m)^(?:\.visible |\.weak )*\.entry ", text)]
    kept, at = [], 0
    for start in starts:
        end = body_end(text, start)
        name = re.match(r"[^(]*\.entry\s+([^\s(]+)", text[start:end]).group(1)
        kept.append(text[at:start])
        if name == entry:
            kept.append(text[start:end])
        at = end
    return "".join(kept) + text[at:]


def body_end(text, at):
    """The end of the function that starts at a place."""
    depth = 0
    for m in re.finditer(r"[{}]", text[at:]):
        depth += 1 if m.group() == "{" else -1
        if depth == 0:
            return at + m.end()
    raise ValueError("a function has no end")


class Memory:
    """The allocations that a launch uses, as buffers of zeros."""

    def __init__(self, allocations):
        self.allocations = sorted(allocations)
        self.used = {}

    def find(self, address):
        for start, size in self.allocations:
            if start <= address < start + size:
                name = self.used.setdefault((start, size), "m%d" % len(self.used))
                return {"ref": name, "offset": address - start}
        return None

    def buffers(self):
        return {name: {"zeros": size} for (_, size), name in self.used.items()}


def tensor_map(memory, m, at):
    where = memory.find(m["address"])
    if where is None or m["interleave"] != 0:
        raise ValueError("a tensor map lies in unknown memory or is interleaved")
    return {"at": at, "type": TYPES[m["type"]], "buffer": where, "dims": m["dims"], "strides": m["strides"], "box": m["box"],
            "steps": m["steps"], "swizzle": SWIZZLES[m["swizzle"]], "fill": "nan" if m["fill"] else "zero"}


def param(memory, data, maps):
    """A parameter that is a structure: its bytes, its tensor maps and its pointers."""
    raw, placed, pointers = bytearray.fromhex(data), [], []
    found = {}
    for m in maps:
        at = bytes(raw).find(bytes.fromhex(m["bytes"]))
        while at >= 0:
            found[at] = m
            at = bytes(raw).find(bytes.fromhex(m["bytes"]), at + 1)
    for at, m in sorted(found.items()):
        placed.append(tensor_map(memory, m, at))
        raw[at:at + 128] = bytes(128)
    for at in range(0, len(raw) - 7, 8):
        where = memory.find(int.from_bytes(raw[at:at + 8], "little"))
        if where is not None:
            pointers.append(dict(where, at=at))
            raw[at:at + 8] = bytes(8)
    one = {"bytes": bytes(raw).hex()}
    if pointers:
        one["pointers"] = pointers
    if placed:
        one["tensormaps"] = placed
    return one


def main():
    archive, out = sys.argv[1:3]
    os.makedirs(out, exist_ok=True)
    files = {}
    with tarfile.open(archive) as t:
        for member in t.getmembers():
            files[member.name] = t.extractfile(member).read().decode()
    index = json.loads(files.pop("index.json"))
    pairs = []
    for one in index["launches"]:
        kernels = [k for k in one["kernels"] if "FlashAttnFwd" in k["name"]]
        if len(kernels) != 1:
            print(one["problem"], "has", [k["name"][:80] for k in one["kernels"]])
            continue
        k = kernels[0]
        text = next((t for t in files.values() if re.search(r"\.entry\s+" + re.escape(k["name"]) + r"\b", t)), None)
        if text is None:
            print(one["problem"], "has no PTX")
            continue
        text = only(text, k["name"])
        ptx = hashlib.sha256(text.encode()).hexdigest()[:12] + ".ptx"
        with open(os.path.join(out, ptx), "w") as f:
            f.write(text)
        memory = Memory(one["allocations"])
        params = [param(memory, p, one["maps"]) for p in k["params"]]
        launch = {"entry": k["name"], "grid": k["grid"], "block": k["block"], "shared": k["shared"], "buffers": memory.buffers(), "params": params}
        name = "fa3-%s.json" % "-".join(map(str, one["problem"]))
        with open(os.path.join(out, name), "w") as f:
            json.dump(launch, f, indent=1)
        pairs.append({"problem": one["problem"], "ptx": ptx, "launch": name, "us": one["us"], "p10": one["p10"], "p90": one["p90"], "registers": k["registers"]})
        print(one["problem"], ptx, "%.2f µs" % one["us"], len(params[0].get("tensormaps", [])), "maps", len(params[0].get("pointers", [])), "pointers")
    with open(os.path.join(out, "index.json"), "w") as f:
        json.dump({"device": index["device"], "version": index["version"], "pairs": pairs}, f, indent=1)


main()
