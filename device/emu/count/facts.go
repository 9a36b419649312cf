package count

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// fact is the static properties of an instruction.
type fact struct {
	by      string       // the mover of its bytes: byThreads, byAtomics, …
	engine  bool         // an engine moves the bytes, not the threads
	branch  bool         // lanes may diverge here
	index   *ptx.Operand // the index of brx.idx
	waits   bool         // threads wait here for a barrier
	polls   bool         // the wait may return before the phase is complete
	special bool         // the special function unit executes it
	product *product     // the tensor cores execute it
	first   bool         // wgmma: the first factor is in shared memory
}

// product is a matrix product of a warp.
type product struct {
	a, b, d    string // types
	operations uint64 // multiplications and additions
}

// The movers of bytes.
const (
	byThreads = "ld, st"
	byAtomics = "atomics"
	byAsync   = "cp.async"
	byBulk    = "bulk copies"
	byTensor  = "tensor copies"
	byWgmma   = "wgmma"
)

func factsOf(in *observe.Inst) fact {
	c := in.Match.Class()
	f := fact{by: moverOf(in, c), special: c.Unit == isa.UnitExp, waits: c.Waits}
	f.engine = c.Unit == isa.UnitBulkCopy || c.Unit == isa.UnitWGMMA
	f.polls = f.waits && in.Arg("waitComplete") != nil
	f.index = in.Arg("index")
	f.branch = in.Arg("tgt") != nil || f.index != nil
	switch c.Unit {
	case isa.UnitTensor:
		f.product = productOf(in.Op, 1)
	case isa.UnitWGMMA:
		f.product = productOf(in.Op, 4)
		f.first = f.product != nil && in.Arg("aDesc") != nil
	}
	return f
}

// moverOf returns the mover of the bytes of an instruction.
func moverOf(in *observe.Inst, c isa.Class) string {
	switch c.Unit {
	case isa.UnitBulkCopy:
		if in.Arg("tensorMap") != nil {
			return byTensor
		}
		return byBulk
	case isa.UnitAsyncCopy:
		return byAsync
	case isa.UnitWGMMA:
		return byWgmma
	}
	switch c.Role {
	case isa.RoleAtomic, isa.RoleReduction, isa.RoleAsyncReduction:
		return byAtomics
	}
	return byThreads
}

// productOf reads the shape and the types of a product that the given number of warps
// share. It returns nil if the instruction is not a product (wgmma.fence).
func productOf(op *ptx.Opcode, warps uint64) *product {
	var m, n, k uint64
	var types []string
	for _, mod := range op.Mods {
		if c, _ := fmt.Sscanf(mod, "m%dn%dk%d", &m, &n, &k); c == 3 {
			continue
		}
		if t := ptx.ParseType(mod); t != ptx.NoType {
			types = append(types, t.String())
		}
	}
	p := &product{operations: 2 * m * n * k / warps}
	switch len(types) {
	case 2: // wmma.mma names d and c; the factors are f16
		p.d, p.a, p.b = types[0], "f16", "f16"
	case 3, 4:
		p.d, p.a, p.b = types[0], types[1], types[2]
	default:
		return nil
	}
	if p.operations == 0 {
		return nil
	}
	if op.Name == "mma" && m == 8 && k == 4 && p.a == "f16" {
		p.operations *= 4 // each quarter of the warp has a product of its own
	}
	return p
}
