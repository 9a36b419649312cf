package decode

import (
	"errors"
	"fmt"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/internal/english"
)

// shownRefusals is the number of instructions that the error of a refused kernel lists.
const shownRefusals = 5

// refuseKernels sets Unsupported of every kernel that can reach an instruction that the emulator
// cannot execute. It returns an error if this leaves no kernel that can run.
func refuseKernels(p *machine.Program, g *callGraph) error {
	reaches := map[*machine.Function]bool{}
	for _, fn := range g.functions {
		reaches[fn] = len(fn.Refused) > 0
	}
	g.spread(func(to, from *machine.Function) bool {
		changed := reaches[from] && !reaches[to]
		reaches[to] = reaches[to] || reaches[from]
		return changed
	})
	var refused []error
	kernels := 0
	for _, f := range p.Module.Funcs() {
		if !f.Entry {
			continue
		}
		kernels++
		fn := p.Funcs[f.Sym.Name]
		if reaches[fn] {
			fn.Unsupported = unsupported(g, fn)
			refused = append(refused, fn.Unsupported)
		}
	}
	if len(refused) < kernels {
		return nil
	}
	return errors.Join(refused...)
}

// unsupported returns an error with the refused instructions that a kernel can reach through its
// calls.
func unsupported(g *callGraph, entry *machine.Function) error {
	var errs []error
	for _, fn := range g.reachable(entry) {
		for _, err := range fn.Refused {
			if fn != entry {
				err = fmt.Errorf("%w (in function %s, which the kernel can call)", err, fn.Decl.Sym.Name)
			}
			errs = append(errs, err)
		}
	}
	if more := len(errs) - shownRefusals; more > 0 {
		errs = append(errs[:shownRefusals], fmt.Errorf("and %s more", english.Count(more, "instruction")))
	}
	return fmt.Errorf("kernel %s cannot run on the emulator: %w", entry.Decl.Sym.Name, errors.Join(errs...))
}
