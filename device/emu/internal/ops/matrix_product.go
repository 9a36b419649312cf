package ops

import (
	"sync"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/numeric/tensor"
	"github.com/GOATnote-Inc/attest/ptx"
)

// product is a matrix product: c += a·b. The factors are in s.a and s.b: the rows of a and
// the columns of b one after the other, in packed words. The accumulator is in s.c, by
// rows, one element per word. If keep is false, the product starts from zero instead of c.
type product interface {
	multiply(s *machine.Scratch, m, n, k int, keep bool)
}

// floatProduct is a product of floating-point factors.
type floatProduct struct{ *tensor.Float }

func (p floatProduct) multiply(s *machine.Scratch, m, n, k int, keep bool) {
	rows, found := s.Rows.Find(p.Float, s.A)
	if !found {
		p.LoadA(rows, m, k, s.A)
	}
	cols, found := s.Cols.Find(p.Float, s.B)
	if !found {
		p.LoadB(cols, n, k, s.B)
	}
	c := s.C
	if !keep {
		c = nil
	}
	p.MulAdd(s.C, rows, cols, c)
}

// products caches the products, so that equal ones share one value. Products that are
// decoded once, and working memory that belongs to one product, are then used again.
var products = struct {
	sync.Mutex
	of map[any]any
}{of: map[any]any{}}

// shared returns the product of a key. It calls create for a product that it does not have.
func shared[P any](key any, create func() (*P, error)) (*P, error) {
	products.Lock()
	defer products.Unlock()
	if p, ok := products.of[key]; ok {
		return p.(*P), nil
	}
	p, err := create()
	if err != nil {
		return nil, err
	}
	products.of[key] = p
	return p, nil
}

// floatKey and intKey are the keys of products.
type (
	floatKey struct {
		arch    tensor.Arch
		inst    tensor.Inst
		a, b, d tensor.Kind
	}
	intKey struct {
		a, b tensor.Kind
		op   tensor.BitOp
		sat  bool
	}
)

// intProduct is a product of whole numbers or of bits.
type intProduct struct{ *tensor.Integer }

func (p intProduct) multiply(s *machine.Scratch, m, n, k int, keep bool) {
	if s.IntegerOf != p.Integer { // a product has working memory, so blocks that run in parallel need copies
		own := *p.Integer
		s.Integer, s.IntegerOf = &own, p.Integer
	}
	c := s.C
	if !keep {
		c = nil
	}
	s.Integer.MulAdd(s.C, m, n, k, s.A, s.B, c)
}

// kinds are the types that package tensor multiplies, by their names.
var kinds = map[string]tensor.Kind{
	"f16": tensor.F16, "bf16": tensor.BF16, "tf32": tensor.TF32, "e4m3": tensor.E4M3, "e5m2": tensor.E5M2, "f32": tensor.F32,
	"s8": tensor.S8, "u8": tensor.U8, "s4": tensor.S4, "u4": tensor.U4, "b1": tensor.B1,
}

// arch returns the generation of a target's tensor cores.
func arch(t ptx.Target) tensor.Arch {
	switch {
	case t.SM >= 90:
		return tensor.Hopper
	case t.SM >= 89:
		return tensor.Ada
	}
	return tensor.Ampere
}

// productOf chooses the arithmetic of an instruction by the types of its factors and
// its result.
func productOf(d *decoder, x *inst, inst tensor.Inst, a, b, result string) product {
	if result == "s32" {
		op := tensor.XOR
		if x.Has("and") {
			op = tensor.AND
		}
		k := intKey{kinds[a], kinds[b], op, x.Has("satfinite")}
		p, err := shared(k, func() (*tensor.Integer, error) { return tensor.NewInteger(k.a, k.b, k.op, k.sat) })
		if err != nil {
			d.Fail("%v", err)
		}
		return intProduct{p}
	}
	if d.Prog.Target.SM >= 100 {
		d.Fail("how the tensor cores of Blackwell round sums is not known")
	}
	k := floatKey{arch(d.Prog.Target), inst, kinds[a], kinds[b], kinds[result]}
	p, err := shared(k, func() (*tensor.Float, error) { return tensor.NewFloat(k.arch, k.inst, k.a, k.b, k.d) })
	if err != nil {
		d.Fail("%v", err)
	}
	return floatProduct{p}
}
