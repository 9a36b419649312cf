package count

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

// fact is what is known of an instruction before it runs.
type fact struct {
	by      string       // who moves its bytes
	engine  bool         // not the threads themselves
	branch  bool         // lanes may part here
	index   *ptx.Operand // of a branch by table
	waits   bool         // threads meet or wait here
	polls   bool         // and may find out that it is not yet time
	special bool         // done by the special function unit
	product *product     // done by the tensor cores
	first   bool         // of wgmma: its first factor is in shared memory
}

// product is a matrix product of a warp.
type product struct {
	a, b, d    string // types
	operations uint64 // multiplications and additions
}

// Who moves bytes.
const (
	byThreads = "ld, st"
	byAtomics = "atomics"
	byAsync   = "cp.async"
	byBulk    = "bulk copies"
	byTensor  = "tensor copies"
	byWgmma   = "wgmma"
)

func factsOf(in *observe.Inst) fact {
	f := fact{by: byThreads, special: in.Op.Has("approx")}
	switch in.Op.Name {
	case "bra", "brx":
		f.branch = true
		if in.Op.Name == "brx" && len(in.Args) > 0 {
			f.index = &in.Args[0]
		}
	case "atom", "red", "multimem":
		f.by = byAtomics
	case "bar", "barrier":
		f.waits = !in.Op.Has("arrive")
	case "mbarrier":
		f.polls = in.Op.Has("test_wait") || in.Op.Has("try_wait")
		f.waits = f.polls
	case "cp":
		f.by = copier(in.Op)
		f.engine = f.by != byAsync
	case "wgmma":
		f.by, f.engine = byWgmma, true
		f.product = productOf(in.Op, 4)
		f.first = f.product != nil && in.Arg("aDesc") != nil
	case "mma", "wmma":
		f.product = productOf(in.Op, 1)
	}
	return f
}

// copier is what carries out a cp.
func copier(op *ptx.Opcode) string {
	switch {
	case op.Has("tensor"):
		return byTensor
	case op.Has("bulk"):
		return byBulk
	}
	return byAsync
}

// productOf reads the shape and the types of a product that so many warps share; nil
// when the instruction is none (wmma.load, wgmma.fence).
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
