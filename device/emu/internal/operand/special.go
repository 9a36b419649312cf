package operand

import (
	"strings"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/ptx"
)

// specialSlot returns the slot of a special register, widened to 64 bits when wide.
func (d *Decoder) specialSlot(s *ptx.Symbol, wide bool) machine.Slot {
	key := s.Name
	if wide {
		key += " wide"
	}
	if at, ok := d.Special[key]; ok {
		if readsAnew(s.Name) {
			d.before(readSpecial(s.Name, at, wide))
		}
		return at
	}
	t := ptx.B32
	if wide {
		t = ptx.B64
	}
	at := d.NewRegs(t, 1)
	d.Special[key] = at
	if readsAnew(s.Name) {
		d.before(readSpecial(s.Name, at, wide))
	} else {
		d.Func.Specials = append(d.Func.Specials, machine.SpecialReg{Name: s.Name, Slot: at, Wide: wide})
	}
	return at
}

// readsAnew reports whether a special register must be read again by each instruction,
// because its value changes while the kernel runs.
func readsAnew(name string) bool {
	return strings.HasPrefix(name, "%clock") || strings.HasPrefix(name, "%globaltimer") || strings.HasPrefix(name, "%pm")
}

func readSpecial(name string, at machine.Slot, wide bool) machine.Exec {
	return func(f *machine.Frame, m uint32) {
		f.Warp.FillSpecial(f, machine.SpecialReg{Name: name, Slot: at, Wide: wide})
	}
}

// specialPred returns the slot of a special register that is a predicate.
func (d *Decoder) specialPred(s *ptx.Symbol) machine.Slot {
	at := d.NewRegs(ptx.Pred, 1)
	d.before(func(f *machine.Frame, m uint32) {
		f.Pred[at] = 0
		if f.Block.Cluster.Explicit { // %is_explicit_cluster, the only special predicate
			f.Pred[at] = machine.FullMask
		}
	})
	return at
}
