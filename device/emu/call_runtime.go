package emu

import (
	"math/bits"
)

// builtin is a function of the CUDA runtime that device code may call without
// having its body: it gets a lane's arguments and gives its result.
type builtin func(f *frame, lane int, args []uint64) uint64

var builtins = map[string]builtin{
	"vprintf":      printf,
	"__assertfail": assertFail,
	"malloc":       deviceMalloc,
	"free":         deviceFree,
}

// run calls the builtin for the lanes m, one after the other.
func (c *callSite) run(f *frame, m uint32) {
	args := make([]uint64, len(c.args))
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		for i := range c.args {
			args[i], _ = c.args[i].load(f, l)
		}
		v := c.builtin(f, l, args)
		if len(c.rets) > 0 {
			c.rets[0].store(f, l, v, 0)
		}
	}
}

// text reads a string that ends with a zero byte at a generic address.
func (f *frame) text(lane int, addr uint64) string {
	const most = 1 << 16
	var b []byte
	for len(b) < most {
		c := f.memory(lane, 0, addr+uint64(len(b)), 1, false)[0]
		if c == 0 {
			break
		}
		b = append(b, c)
	}
	return string(b)
}

// assertFail is what a failed assert calls: message, file, line, function and the
// size of a character.
func assertFail(f *frame, lane int, args []uint64) uint64 {
	str := func(i int) string {
		if i >= len(args) || args[i] == 0 {
			return "?"
		}
		return f.text(lane, args[i])
	}
	line := uint32(0)
	if len(args) > 2 {
		line = uint32(args[2])
	}
	f.raise(lane, "%s:%d: %s: assertion `%s` failed", str(1), line, str(3), str(0))
	return 0
}

// deviceMalloc is malloc of the device's heap. Like the GPU's it gives a null
// pointer when there is no memory left.
func deviceMalloc(f *frame, lane int, args []uint64) uint64 {
	if len(args) == 0 || args[0] == 0 || args[0] > 1<<40 {
		return 0
	}
	a, err := f.b.launch.mem.alloc(int64(args[0]), 16, "")
	if err != nil {
		return 0
	}
	a.heap = true
	return a.addr
}

// deviceFree is free of the device's heap.
func deviceFree(f *frame, lane int, args []uint64) uint64 {
	if len(args) == 0 || args[0] == 0 {
		return 0
	}
	mem := f.b.launch.mem
	a := mem.find(args[0])
	if a == nil || a.addr != args[0] || !a.heap {
		f.raise(lane, "free of %#x, which malloc did not give", args[0])
	}
	mem.free(a)
	a.data = nil // warps remember allocations: they must not find this one
	return 0
}
