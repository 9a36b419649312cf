package decode

import (
	"errors"
	"fmt"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/ptx"
)

// shownRefusals is the number of instructions that the error of a refused kernel lists.
const shownRefusals = 5

// refuseKernels sets Unsupported of every kernel that can reach an instruction that the emulator
// cannot execute. It returns an error if this leaves no kernel that can run.
func refuseKernels(p *machine.Program) error {
	var refused []error
	kernels := 0
	for _, f := range p.Module.Funcs() {
		if !f.Entry {
			continue
		}
		kernels++
		fn := p.Funcs[f.Sym.Name]
		if fn.Unsupported = unsupported(p, fn); fn.Unsupported != nil {
			refused = append(refused, fn.Unsupported)
		}
	}
	if len(refused) < kernels {
		return nil
	}
	return errors.Join(refused...)
}

// unsupported returns an error with the refused instructions that a kernel can reach through its
// calls, or nil.
func unsupported(p *machine.Program, entry *machine.Function) error {
	var errs []error
	for _, fn := range reachable(p, entry) {
		for _, err := range fn.Refused {
			if fn != entry {
				err = fmt.Errorf("%w (in function %s, which the kernel can call)", err, fn.Decl.Sym.Name)
			}
			errs = append(errs, err)
		}
	}
	if len(errs) == 0 {
		return nil
	}
	if more := len(errs) - shownRefusals; more > 0 {
		errs = append(errs[:shownRefusals], fmt.Errorf("and %s more", english.Count(more, "instruction")))
	}
	return fmt.Errorf("kernel %s cannot run on the emulator: %w", entry.Decl.Sym.Name, errors.Join(errs...))
}

// reachable returns a kernel and the functions that it can call, directly or through others. A
// call through a register can reach every device function of the module.
func reachable(p *machine.Program, entry *machine.Function) []*machine.Function {
	seen := map[*machine.Function]bool{entry: true}
	list := []*machine.Function{entry}
	visit := func(fn *machine.Function) {
		if fn != nil && !seen[fn] {
			seen[fn] = true
			list = append(list, fn)
		}
	}
	for i := 0; i < len(list); i++ {
		for _, s := range list[i].Decl.Body {
			in, ok := s.(*ptx.Inst)
			if !ok || in.Op.Name != "call" {
				continue
			}
			callee := calleeOf(in)
			switch {
			case callee == nil:
			case callee.Kind == ptx.SymOperand:
				visit(p.Function(callee.Sym))
			default:
				for _, f := range p.Module.Funcs() {
					if !f.Entry {
						visit(p.Funcs[f.Sym.Name])
					}
				}
			}
		}
	}
	return list
}

// calleeOf returns the operand of a call that names the function, or nil.
func calleeOf(in *ptx.Inst) *ptx.Operand {
	for i := range in.Args {
		if in.Args[i].Kind != ptx.ListOperand {
			return &in.Args[i]
		}
	}
	return nil
}
