package check

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"sync"

	window "github.com/GOATnote-Inc/attest/device/emu/internal/memory"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx"
)

// ForeignLocal is the use of an address of another thread's local variable.
const ForeignLocal finding.Kind = "foreign-local"

func init() {
	register(checker{kinds: []kind{{
		Rule: finding.Rule{
			Kind:  ForeignLocal,
			Short: "a thread uses the address of another thread's local variable",
			Full:  "All threads have the same addresses for their local memory. A thread that uses the address of another thread's local variable accesses its own variable at that address.",
			Help:  "Pass the value, or keep the variable in shared or global memory.",
		},
		why: "each thread has its own local memory at the same addresses, so the address of another thread's variable leads to the memory of the thread that uses it",
		fix: "pass the value instead of its address, or keep the variable in shared or global memory",
	}}, start: newForeign})
}

// foreignPart follows addresses of local variables from the store in shared or global memory to the
// load by another thread. It watches loads whose value becomes an address.
type foreignPart struct {
	pointers []bool // by instruction: a load whose value is used as an address

	mu     sync.Mutex
	stored map[foreignPlace]foreignOwner
}

// foreignPlace is eight bytes of memory that hold an address.
type foreignPlace struct {
	alloc   *observe.Alloc // global memory, or nil
	cluster int            // shared memory
	block   int
	offset  uint64
}

// foreignOwner is the thread that stored an address of its local memory.
type foreignOwner struct {
	thread foreignThread
	value  uint64
	at     finding.Place // of the store
}

type foreignThread struct{ cluster, rank, warp, lane int }

const pointerBytes = 8

// newForeign returns nil if no generic address of a local variable is computed, or if no load
// gives an address.
func newForeign(l *launch) part {
	p := &foreignPart{pointers: make([]bool, len(l.Program)), stored: map[foreignPlace]foreignOwner{}}
	local, loads := false, false
	reaches := map[*ptx.Func]map[int32]bool{}
	for id := range l.Program {
		in := &l.Program[id]
		local = local || in.Op.Name == "cvta" && in.Op.Has("local") && !in.Op.Has("to")
		if in.Op.Name != "ld" || !mayHoldPointer(in) {
			continue
		}
		if reaches[in.Func] == nil {
			reaches[in.Func] = addressRegisters(l, in.Func)
		}
		for _, d := range newUndefInst(in, int32(len(in.Func.Regs))).dst {
			p.pointers[id] = p.pointers[id] || reaches[in.Func][d.id]
		}
		loads = loads || p.pointers[id]
	}
	if !local || !loads {
		return nil
	}
	return p
}

// mayHoldPointer reports whether a load may read an address from shared or global memory.
func mayHoldPointer(in *observe.Inst) bool {
	s := in.Space("a")
	return s == ptx.Shared || s == ptx.Global || s == ptx.Generic
}

// addressRegisters returns the registers of a function whose values become generic addresses of
// loads, stores and atomics, directly or through moves and additions.
func addressRegisters(l *launch, f *ptx.Func) map[int32]bool {
	to := map[int32]bool{}
	var moves []*undefInst
	for id := range l.Program {
		in := &l.Program[id]
		if in.Func != f {
			continue
		}
		u := newUndefInst(in, int32(len(f.Regs)))
		switch in.Op.Name {
		case "ld", "st", "atom", "red":
			if s := in.Space("a"); s == ptx.Generic || s == ptx.Local {
				for _, a := range u.addr {
					to[a.id] = true
				}
			}
		case "mov", "add", "sub", "cvta", "selp", "mad":
			moves = append(moves, u)
		}
	}
	for grows := true; grows; {
		grows = false
		for _, u := range moves {
			for _, d := range u.dst {
				for _, s := range u.src {
					if to[d.id] && s.id >= 0 && !to[s.id] {
						to[s.id], grows = true, true
					}
				}
			}
		}
	}
	return to
}

func (p *foreignPart) cluster(c *cluster) any { return &foreignWatch{p, c} }

type foreignWatch struct {
	*foreignPart
	c *cluster
}

func (w *foreignWatch) access(a *observe.Access) {
	in := &w.c.l.Program[a.ID]
	if a.Space == ptx.Local || a.Offsets == nil || a.Size < pointerBytes || !a.Write && !w.pointers[a.ID] || a.Write && in.Op.Name != "st" {
		return
	}
	var strangers uint32
	var owner foreignOwner
	for m := a.Mask; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		if a.Write {
			w.remember(a, in, lane)
		} else if o, ok := w.foreign(a, lane); ok {
			strangers |= 1 << lane
			owner = o
		}
	}
	if strangers == 0 {
		return
	}
	w.c.report(finding.Finding{
		Kind: ForeignLocal, Severity: finding.Error, Place: w.c.at(a.ID, a.Rank, a.Warp, strangers), Other: &owner.at,
		Message: fmt.Sprintf("%s loads the address of another thread's local variable, which was stored at line %d, and uses it", in.Op.Text, owner.at.Pos.Line),
	})
}

// place returns the place of eight bytes that a lane accesses.
func (w *foreignWatch) place(a *observe.Access, lane, at int) foreignPlace {
	offset := a.Offsets[lane] + uint64(at)
	if a.Space == ptx.Global {
		return foreignPlace{alloc: a.Alloc, offset: offset}
	}
	return foreignPlace{cluster: w.c.Index, block: a.Block, offset: offset}
}

// remember notes the addresses of local memory that a lane is about to store.
func (w *foreignWatch) remember(a *observe.Access, in *observe.Inst, lane int) {
	data, _ := a.Stored(in, lane)
	for at := 0; at+pointerBytes <= len(data); at += pointerBytes {
		v := binary.LittleEndian.Uint64(data[at:])
		if v-window.LocalBase >= mostLocal {
			continue
		}
		w.mu.Lock()
		w.stored[w.place(a, lane, at)] = foreignOwner{w.thread(a, lane), v, w.c.at(a.ID, a.Rank, a.Warp, 1<<lane)}
		w.mu.Unlock()
	}
}

// foreign returns the owner of a local variable whose address a lane loads. ok is false if it loads
// no such address, or one of its own.
func (w *foreignWatch) foreign(a *observe.Access, lane int) (o foreignOwner, ok bool) {
	var data []byte
	if a.Space == ptx.Global {
		data = a.Alloc.Data
	} else {
		data = w.c.Blocks[a.Block].Memory
	}
	for at := 0; at+pointerBytes <= a.Size; at += pointerBytes {
		place := w.place(a, lane, at)
		if place.offset+pointerBytes > uint64(len(data)) {
			continue
		}
		w.mu.Lock()
		o, ok = w.stored[place]
		w.mu.Unlock()
		if ok && o.thread != w.thread(a, lane) && o.value == binary.LittleEndian.Uint64(data[place.offset:]) {
			return o, true
		}
	}
	return o, false
}

func (w *foreignWatch) thread(a *observe.Access, lane int) foreignThread {
	return foreignThread{w.c.Index, a.Rank, a.Warp, lane}
}
