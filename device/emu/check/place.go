package check

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"attest/device/emu"
	"attest/ptx"
)

// shared fills in an address in shared memory: the variable that it lies in, or the
// one before it.
func (a *Access) shared(l *launch, off, size int) {
	a.Space, a.Offset, a.Size = ptx.Shared, int64(off), size
	for _, v := range l.Shared {
		if v.Offset <= off {
			a.Var, a.Offset = readable(v.Name), int64(off-v.Offset)
		}
	}
}

// global fills in an address in global memory.
func (a *Access) global(l *launch, m *emu.Alloc, off, size int) {
	a.Space, a.Var, a.Offset, a.Size = ptx.Global, l.allocName(m), int64(off), size
}

// allocName is what an allocation goes by: its variable's name, or that of the
// parameter that points to it.
func (l *launch) allocName(m *emu.Alloc) string {
	if m.Name != "" {
		return readable(m.Name)
	}
	for i, p := range l.entry().Params {
		if i < len(l.Launch.Params) && len(l.Launch.Params[i]) == 8 && binary.LittleEndian.Uint64(l.Launch.Params[i]) == m.Addr {
			return p.Sym.Name
		}
	}
	return fmt.Sprintf("allocation %#x", m.Addr)
}

func (l *launch) entry() *ptx.Func {
	for _, f := range l.Module.Funcs() {
		if f.Entry && f.Sym.Name == l.Kernel {
			return f
		}
	}
	return &ptx.Func{}
}

// readable is the name that a variable of a function has in C++: nvcc calls "tile" of
// the kernel k(float*) _ZZ1kPfE4tile.
func readable(name string) string {
	if !strings.HasPrefix(name, "_ZZ") {
		return name
	}
	for i := len(name) - 1; i > 3; i-- {
		digits := 0
		for i+1+digits < len(name) && name[i+1+digits] >= '0' && name[i+1+digits] <= '9' {
			digits++
		}
		if name[i] != 'E' || digits == 0 {
			continue
		}
		n, err := strconv.Atoi(name[i+1 : i+1+digits])
		if rest := name[i+1+digits:]; err == nil && n > 0 && (n == len(rest) || n < len(rest) && rest[n] == '_') {
			return rest[:n]
		}
	}
	return name
}
