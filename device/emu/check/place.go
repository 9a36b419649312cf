package check

import (
	"encoding/binary"
	"fmt"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

// shared fills in an address in shared memory: the variable that it lies in, or the
// one before it.
func (a *Access) shared(l *launch, off, size int) {
	a.Space, a.Offset, a.Size = ptx.Shared, int64(off), size
	for _, v := range l.Shared {
		if v.Offset <= off {
			a.Var, a.Offset = observe.SourceName(v.Name), int64(off-v.Offset)
		}
	}
}

// global fills in an address in global memory.
func (a *Access) global(l *launch, m *observe.Alloc, off, size int) {
	a.Space, a.Var, a.Offset, a.Size = ptx.Global, l.allocName(m), int64(off), size
}

// allocName is what an allocation goes by: its variable's name, or that of the
// parameter that points to it.
func (l *launch) allocName(m *observe.Alloc) string {
	if m.Name != "" {
		return observe.SourceName(m.Name)
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
