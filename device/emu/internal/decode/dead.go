package decode

import "github.com/GOATnote-Inc/attest/ptx"

// deadCode returns the instructions of a function that only compute what nobody reads.
func deadCode(f *ptx.Func) map[*ptx.Inst]bool {
	dead := map[*ptx.Inst]bool{}
	writers := map[*ptx.Symbol][]*ptx.Inst{}
	var read []*ptx.Symbol // registers whose writers are not dead
	revive := func(in *ptx.Inst) {
		delete(dead, in)
		reads, _ := accesses(in)
		read = append(read, reads...)
		if in.Guard.Sym != nil {
			read = append(read, in.Guard.Sym)
		}
	}
	for _, v := range f.Returns {
		read = append(read, v.Sym)
	}
	for _, s := range f.Body {
		in, ok := s.(*ptx.Inst)
		if !ok {
			continue
		}
		if !computes[in.Op.Name] {
			revive(in)
			continue
		}
		dead[in] = true
		_, writes := accesses(in)
		for _, r := range writes {
			writers[r] = append(writers[r], in)
		}
	}
	for len(read) > 0 {
		r := read[len(read)-1]
		read = read[:len(read)-1]
		for _, in := range writers[r] {
			if dead[in] {
				revive(in)
			}
		}
		delete(writers, r)
	}
	return dead
}

// computes names the instructions that only compute, among those that may use a product.
var computes = map[string]bool{
	"abs": true, "add": true, "and": true, "copysign": true, "cvt": true, "div": true, "ex2": true, "fma": true, "lg2": true,
	"mad": true, "max": true, "min": true, "mov": true, "mul": true, "neg": true, "or": true, "rcp": true, "rsqrt": true, "selp": true,
	"set": true, "setp": true, "sqrt": true, "sub": true, "tanh": true, "xor": true,
}
