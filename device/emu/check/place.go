package check

import (
	"encoding/binary"
	"fmt"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx"
)

// from sets the source line of a place and its callers, where they are known.
func from(p *finding.Place, at *site) {
	if at != nil && at.line != "" {
		p.Source, p.Callers = at.line, at.callers
	}
}

// touchShared sets the address of a place in shared memory, relative to the last
// variable that starts at or before it. owner is the block whose memory it is, where
// a cluster has several.
func (l *launch) touchShared(p *finding.Place, off, size int, owner string) {
	name, at := "", off
	for _, v := range l.Shared {
		if v.Offset <= off {
			name, at = observe.SourceName(v.Name), off-v.Offset
		}
	}
	p.Touch("shared", name, int64(at), size, owner)
}

// touchGlobal sets the address of a place in global memory.
func (l *launch) touchGlobal(p *finding.Place, m *observe.Alloc, off, size int) {
	p.Touch("global", l.allocName(m), int64(off), size, "")
}

// allocName returns the name of an allocation: that of its variable or of the
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
