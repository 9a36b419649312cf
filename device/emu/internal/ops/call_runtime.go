package ops

import "github.com/GOATnote-Inc/attest/device/emu/internal/machine"

var builtins = map[string]machine.Builtin{
	"vprintf":      printf,
	"__assertfail": assertFail,
	"malloc":       deviceMalloc,
	"free":         deviceFree,
}

// assertFail is the function that a failed assert calls with the message, the file, the
// line, the function and the size of a character. It ends the launch.
func assertFail(f *frame, lane int, args []uint64) uint64 {
	str := func(i int) string {
		if i >= len(args) || args[i] == 0 {
			return "?"
		}
		return f.Text(lane, args[i])
	}
	line := uint32(0)
	if len(args) > 2 {
		line = uint32(args[2])
	}
	f.Raise(lane, "%s:%d: %s: assertion `%s` failed", str(1), line, str(3), str(0))
	return 0
}

// deviceMalloc is malloc in device code. As on a GPU, it returns a null pointer when there
// is no memory left.
func deviceMalloc(f *frame, lane int, args []uint64) uint64 {
	if len(args) == 0 || args[0] == 0 || args[0] > 1<<40 {
		return 0
	}
	a, err := f.Block.Launch.Memory.Alloc(int64(args[0]), 16, "")
	if err != nil {
		return 0
	}
	a.Heap = true
	return a.Addr
}

// deviceFree is free in device code.
func deviceFree(f *frame, lane int, args []uint64) uint64 {
	if len(args) == 0 || args[0] == 0 {
		return 0
	}
	mem := f.Block.Launch.Memory
	a := mem.Find(args[0])
	if a == nil || a.Addr != args[0] || !a.Heap {
		f.Raise(lane, "free of %#x: malloc did not return this address", args[0])
	}
	mem.Free(a)
	a.Data = nil // a warp that has cached this allocation must not access it
	return 0
}
