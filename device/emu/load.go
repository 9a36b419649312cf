package emu

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// load parses and decodes a module, and places its variables.
func load(name, text string, target ptx.Target, mem *memory, guardShared bool) (*program, error) {
	m, err := parse.Parse(name, text)
	if err != nil {
		return nil, err
	}
	if !target.Runs(m.Target) {
		return nil, fmt.Errorf("%s: .target %s does not run on %s", name, m.Target, target)
	}
	p := &program{
		file: name, mod: m, target: target,
		funcs: map[string]*function{}, byAddr: map[uint64]*function{}, addrOf: map[string]uint64{},
		globals: map[*ptx.Symbol]*alloc{}, shared: map[*ptx.Symbol]int64{},
	}
	if guardShared {
		p.guard = guardBytes
	}
	if err := p.placeVariables(mem); err != nil {
		return nil, err
	}
	for i, f := range m.Funcs() {
		fn := &function{prog: p, f: f, index: i, offsets: map[*ptx.Symbol]int64{}, lines: &sourceLines{}}
		p.funcs[f.Sym.Name] = fn
		addr := uint64(funcBase + 16*i)
		p.byAddr[addr], p.addrOf[f.Sym.Name] = fn, addr
		fn.place()
		fn.signature()
	}
	p.placeShared()
	p.finishEntries()
	if err := p.fillGlobals(); err != nil {
		return nil, err
	}
	var errs []error
	for _, f := range m.Funcs() {
		errs = append(errs, p.decode(p.funcs[f.Sym.Name]))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	p.orderBlocks()
	return p, nil
}

// funcBase is where the addresses of functions start.
const funcBase = 4 << windowBits

func (p *program) funcAddr(s *ptx.Symbol) uint64 {
	if fn := p.function(s); fn != nil {
		return p.addrOf[fn.f.Sym.Name]
	}
	return 0
}

// function is the function that a name stands for, or nil when it has no body
// here.
func (p *program) function(s *ptx.Symbol) *function {
	for _, it := range p.mod.Items {
		if a, ok := it.(*ptx.Alias); ok && a.Name.Name == s.Name {
			s = a.Target
		}
	}
	return p.funcs[s.Name]
}

// placeVariables gives the variables of module scope their storage.
func (p *program) placeVariables(mem *memory) error {
	for _, v := range p.mod.Vars() {
		switch v.Space {
		case ptx.Global, ptx.Const:
			a, err := mem.alloc(v.Size(), v.Alignment(), v.Sym.Name)
			if err != nil {
				return fmt.Errorf("variable %s: %w", v.Sym.Name, err)
			}
			a.readOnly = v.Space == ptx.Const
			p.globals[v.Sym] = a
		case ptx.Shared:
			if v.Linkage == ptx.Extern {
				p.dynamic = append(p.dynamic, v.Sym)
				continue
			}
			p.declared = place(p.declared, v, p.shared)
			p.statics = place(p.statics, v, p.shared) + p.guard
		}
	}
	return nil
}

// place gives a variable the next aligned offset and returns where it ends.
func place(at int64, v *ptx.Var, offsets map[*ptx.Symbol]int64) int64 {
	a := int64(v.Alignment())
	at = (at + a - 1) / a * a
	offsets[v.Sym] = at
	return at + v.Size()
}

// place lays out the variables of a function but the .shared ones: its parameters,
// the .param and .local variables of its body.
func (fn *function) place() {
	if !fn.f.Entry {
		for _, v := range fn.f.Returns {
			fn.paramSize = place(fn.paramSize, v, fn.offsets)
		}
	}
	for _, v := range fn.f.Params {
		fn.paramSize = place(fn.paramSize, v, fn.offsets)
	}
	if fn.f.Entry {
		fn.paramSize = 0 // one copy for the whole grid; the body's own follow
	}
	for _, s := range fn.f.Body {
		v, ok := s.(*ptx.Var)
		if !ok {
			continue
		}
		switch v.Space {
		case ptx.Param:
			fn.paramSize = place(fn.paramSize, v, fn.offsets)
		case ptx.Local:
			fn.localSize = place(fn.localSize, v, fn.offsets)
		case ptx.Shared:
			if v.Linkage == ptx.Extern {
				fn.prog.dynamic = append(fn.prog.dynamic, v.Sym)
			}
		}
	}
}

// placeShared lays out the .shared variables of the functions' bodies behind those
// of the module: first what device functions have, which may be called from any
// kernel, then what each kernel has for itself.
func (p *program) placeShared() {
	for _, entry := range []bool{false, true} {
		for _, f := range p.mod.Funcs() {
			if f.Entry != entry {
				continue
			}
			fn := p.funcs[f.Sym.Name]
			fn.statics, fn.declared = p.statics, p.declared
			for _, s := range f.Body {
				if v, ok := s.(*ptx.Var); ok && v.Space == ptx.Shared && v.Linkage != ptx.Extern {
					fn.declared = place(fn.declared, v, fn.offsets)
					fn.statics = place(fn.statics, v, fn.offsets) + p.guard
				}
			}
			if !entry {
				p.statics, p.declared = fn.statics, fn.declared
			}
		}
	}
}

// finishEntries places dynamic shared memory behind the static one of each kernel.
// All variables for it start at the same place, aligned for each of them.
func (p *program) finishEntries() {
	align := int64(1)
	for _, s := range p.dynamic {
		align = max(align, int64(s.Var.Alignment()))
	}
	for _, fn := range p.funcs {
		fn.statics = (fn.statics + align - 1) / align * align
		fn.declared = (fn.declared + align - 1) / align * align
	}
}

// fillGlobals writes the initialisers of the module's variables.
func (p *program) fillGlobals() error {
	for _, v := range p.mod.Vars() {
		a := p.globals[v.Sym]
		if a == nil || v.Init == nil {
			continue
		}
		dims := v.Dims
		if v.Vec > 0 {
			dims = append(append([]int64{}, dims...), int64(v.Vec))
		}
		if err := p.initialise(a.data, v.Type, dims, v.Init); err != nil {
			return fmt.Errorf("%s: variable %s: %w", p.file, v.Sym.Name, err)
		}
	}
	return nil
}

// initialise writes one initialiser, nested by dimension, into data.
func (p *program) initialise(data []byte, t ptx.Type, dims []int64, o *ptx.Operand) error {
	if o.Kind != ptx.VecOperand {
		return p.initValue(data, t, o)
	}
	step := int64(t.Bytes())
	inner := dims
	if len(dims) > 0 {
		inner = dims[1:]
		for _, n := range inner {
			step *= n
		}
	}
	for i := range o.Elems {
		if int64(len(data)) < int64(i+1)*step {
			return errors.New("more initialisers than elements")
		}
		if err := p.initialise(data[int64(i)*step:][:step], t, inner, &o.Elems[i]); err != nil {
			return err
		}
	}
	return nil
}

func (p *program) initValue(data []byte, t ptx.Type, o *ptx.Operand) error {
	var v uint64
	switch o.Kind {
	case ptx.SymOperand:
		base, err := p.symbolAddress(o)
		if err != nil {
			return err
		}
		v = base + uint64(o.Val)
		if o.Flags&ptx.MaskOf != 0 {
			v = masked(v, uint64(o.Elems[0].Val))
		}
	default:
		v = constant(o, t)
	}
	var buf [8]byte
	binary.LittleEndian.PutUint64(buf[:], v)
	copy(data[:t.Bytes()], buf[:])
	return nil
}

// masked picks the bytes of an address that a mask such as 0xFF00 names.
func masked(v, mask uint64) uint64 {
	for mask != 0 && mask&0xff == 0 {
		v, mask = v>>8, mask>>8
	}
	return v & mask
}

// symbolAddress is an address as an initialiser means it: generic(x) and the plain
// name of a global variable are the same number.
func (p *program) symbolAddress(o *ptx.Operand) (uint64, error) {
	switch o.Sym.Kind {
	case ptx.VarSymbol:
		if a := p.globals[o.Sym]; a != nil {
			return a.addr, nil
		}
	case ptx.FuncSymbol:
		return p.funcAddr(o.Sym), nil
	}
	return 0, fmt.Errorf("the address of %s is no constant", o.Sym.Name)
}
