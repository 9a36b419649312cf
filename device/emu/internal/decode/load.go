package decode

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/device/emu/internal/memory"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
	"github.com/GOATnote-Inc/attest/ptx/parse"
	"github.com/GOATnote-Inc/attest/ptx/verify"
)

// Options say how a module is decoded.
type Options struct {
	Target      ptx.Target // the emulated GPU
	GuardShared bool       // put guard bands between variables in shared memory
	Contract    bool       // fuse mul and add as an assembler does
}

// Load parses, verifies and decodes a module, and places its variables. The error is a
// *verify.Invalid for a module that NVIDIA's assembler refuses: the machine relies on operands
// that have the types of their instructions.
func Load(name, text string, mem *memory.Global, opts Options) (*machine.Program, error) {
	m, err := parse.Parse(name, text)
	if err != nil {
		return nil, err
	}
	if !opts.Target.Runs(m.Target) {
		return nil, fmt.Errorf("%s: .target %s does not run on %s", name, m.Target, opts.Target)
	}
	if err := verify.Valid(name, m); err != nil {
		return nil, err
	}
	orderModifiers(m)
	p := &machine.Program{
		File: name, Module: m, Target: opts.Target,
		Funcs: map[string]*machine.Function{}, ByAddr: map[uint64]*machine.Function{}, AddrOf: map[string]uint64{},
		Globals: map[*ptx.Symbol]*memory.Alloc{}, Shared: map[*ptx.Symbol]int64{},
	}
	if opts.GuardShared {
		p.Guard = memory.GuardBytes
	}
	if err := placeVariables(p, mem); err != nil {
		return nil, err
	}
	for i, f := range m.Funcs() {
		fn := &machine.Function{Prog: p, Decl: f, Index: i, Offsets: map[*ptx.Symbol]int64{}, Lines: &machine.SourceLines{}}
		p.Funcs[f.Sym.Name] = fn
		addr := uint64(machine.FuncBase + 16*i)
		p.ByAddr[addr], p.AddrOf[f.Sym.Name] = fn, addr
		placeBody(fn)
		fn.Signature()
	}
	placeShared(p)
	finishEntries(p)
	if err := fillGlobals(p); err != nil {
		return nil, err
	}
	for _, f := range m.Funcs() {
		decode(p, p.Funcs[f.Sym.Name], opts.Contract)
	}
	calls := newCallGraph(p)
	if err := refuseKernels(p, calls); err != nil {
		return nil, err
	}
	orderBlocks(p, calls)
	return p, nil
}

// orderModifiers puts the modifiers of all opcodes into the order of the instruction table.
// Assemblers accept any order, but the emulator and the checkers look for some modifiers by their
// position.
func orderModifiers(m *ptx.Module) {
	known := map[*ptx.Opcode]*ptx.Opcode{} // instructions that are spelt alike share one opcode
	for _, f := range m.Funcs() {
		for _, s := range f.Body {
			in, ok := s.(*ptx.Inst)
			if !ok {
				continue
			}
			ordered := known[in.Op]
			if ordered == nil {
				ordered = isa.InOrder(in.Op)
				known[in.Op] = ordered
			}
			in.Op = ordered
		}
	}
}

// staticVariables returns the variables of the module, followed by the .global and .const variables
// in the bodies of functions. Those differ from variables of the module only in the scope of their
// names.
func staticVariables(m *ptx.Module) []*ptx.Var {
	vs := m.Vars()
	for _, f := range m.Funcs() {
		for _, s := range f.Body {
			if v, ok := s.(*ptx.Var); ok && (v.Space == ptx.Global || v.Space == ptx.Const) {
				vs = append(vs, v)
			}
		}
	}
	return vs
}

// placeVariables gives the variables of module scope, and the .global and .const variables of
// functions, their storage.
func placeVariables(p *machine.Program, mem *memory.Global) error {
	for _, v := range staticVariables(p.Module) {
		switch v.Space {
		case ptx.Global, ptx.Const:
			a, err := mem.Alloc(v.Size(), v.Alignment(), v.Sym.Name)
			if err != nil {
				return fmt.Errorf("variable %s: %w", v.Sym.Name, err)
			}
			a.ReadOnly = v.Space == ptx.Const
			p.Globals[v.Sym] = a
		case ptx.Shared:
			if v.Linkage == ptx.Extern {
				p.Dynamic = append(p.Dynamic, v.Sym)
				continue
			}
			p.Declared = place(p.Declared, v, p.Shared)
			p.Statics = place(p.Statics, v, p.Shared) + p.Guard
		}
	}
	return nil
}

// place gives a variable the next aligned offset and returns the offset behind it.
func place(at int64, v *ptx.Var, offsets map[*ptx.Symbol]int64) int64 {
	a := int64(v.Alignment())
	at = (at + a - 1) / a * a
	offsets[v.Sym] = at
	return at + v.Size()
}

// placeBody assigns offsets to the parameters of a function and to the .param and .local
// variables of its body.
func placeBody(fn *machine.Function) {
	if !fn.Decl.Entry {
		for _, v := range fn.Decl.Returns {
			fn.ParamSize = place(fn.ParamSize, v, fn.Offsets)
		}
	}
	for _, v := range fn.Decl.Params {
		fn.ParamSize = place(fn.ParamSize, v, fn.Offsets)
	}
	if fn.Decl.Entry {
		fn.ParamSize = 0 // kernel parameters have one copy for the whole grid
	}
	for _, s := range fn.Decl.Body {
		v, ok := s.(*ptx.Var)
		if !ok {
			continue
		}
		switch v.Space {
		case ptx.Param:
			fn.ParamSize = place(fn.ParamSize, v, fn.Offsets)
		case ptx.Local:
			fn.LocalSize = place(fn.LocalSize, v, fn.Offsets)
		case ptx.Shared:
			if v.Linkage == ptx.Extern {
				fn.Prog.Dynamic = append(fn.Prog.Dynamic, v.Sym)
			}
		}
	}
}

// placeShared assigns offsets to the .shared variables in the bodies of functions. They
// follow the variables of the module: first the variables of device functions, which any
// kernel may call, then the variables of each kernel.
func placeShared(p *machine.Program) {
	for _, entry := range []bool{false, true} {
		for _, f := range p.Module.Funcs() {
			if f.Entry != entry {
				continue
			}
			fn := p.Funcs[f.Sym.Name]
			fn.Statics, fn.Declared = p.Statics, p.Declared
			for _, s := range f.Body {
				if v, ok := s.(*ptx.Var); ok && v.Space == ptx.Shared && v.Linkage != ptx.Extern {
					fn.Declared = place(fn.Declared, v, fn.Offsets)
					fn.Statics = place(fn.Statics, v, fn.Offsets) + p.Guard
				}
			}
			if !entry {
				p.Statics, p.Declared = fn.Statics, fn.Declared
			}
		}
	}
}

// finishEntries places dynamic shared memory behind the static shared memory of each
// kernel. All its variables start at the same place, aligned for each of them.
func finishEntries(p *machine.Program) {
	align := int64(1)
	for _, s := range p.Dynamic {
		align = max(align, int64(s.Var.Alignment()))
	}
	for _, fn := range p.Funcs {
		fn.Statics = (fn.Statics + align - 1) / align * align
		fn.Declared = (fn.Declared + align - 1) / align * align
	}
}

// fillGlobals writes the initialisers of variables in global and constant memory.
func fillGlobals(p *machine.Program) error {
	for _, v := range staticVariables(p.Module) {
		a := p.Globals[v.Sym]
		if a == nil || v.Init == nil {
			continue
		}
		dims := v.Dims
		if v.Vec > 0 {
			dims = append(append([]int64{}, dims...), int64(v.Vec))
		}
		if err := initialise(p, a.Data, v.Type, dims, v.Init); err != nil {
			return fmt.Errorf("%s: variable %s: %w", p.File, v.Sym.Name, err)
		}
	}
	return nil
}

// initialise writes one initialiser, nested by dimension, into data.
func initialise(p *machine.Program, data []byte, t ptx.Type, dims []int64, o *ptx.Operand) error {
	if o.Kind != ptx.VecOperand {
		return initValue(p, data, t, o)
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
		if err := initialise(p, data[int64(i)*step:][:step], t, inner, &o.Elems[i]); err != nil {
			return err
		}
	}
	return nil
}

func initValue(p *machine.Program, data []byte, t ptx.Type, o *ptx.Operand) error {
	var v uint64
	switch o.Kind {
	case ptx.SymOperand:
		base, err := symbolAddress(p, o)
		if err != nil {
			return err
		}
		v = base + uint64(o.Val)
		if o.Flags&ptx.MaskOf != 0 {
			v = masked(v, uint64(o.Elems[0].Val))
		}
	default:
		v = machine.Constant(o, t)
	}
	var buf [8]byte
	binary.LittleEndian.PutUint64(buf[:], v)
	copy(data[:t.Bytes()], buf[:])
	return nil
}

// masked returns the bytes of v that a mask such as 0xFF00 selects.
func masked(v, mask uint64) uint64 {
	for mask != 0 && mask&0xff == 0 {
		v, mask = v>>8, mask>>8
	}
	return v & mask
}

// symbolAddress returns the address that an initialiser names. For a global variable x, x
// and generic(x) are the same address.
func symbolAddress(p *machine.Program, o *ptx.Operand) (uint64, error) {
	switch o.Sym.Kind {
	case ptx.VarSymbol:
		if a := p.Globals[o.Sym]; a != nil {
			return a.Addr, nil
		}
	case ptx.FuncSymbol:
		return p.FuncAddr(o.Sym), nil
	}
	return 0, fmt.Errorf("the address of %s is not a constant", o.Sym.Name)
}
