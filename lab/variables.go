package lab

import (
	"errors"
	"fmt"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// variable is a variable of a module in global memory, with its initial content. A kernel can
// store results there, so it is restored between launches.
type variable struct {
	buffer, initial device.Buffer
}

// mostVariable is the size in bytes up to which variables are restored.
const mostVariable = 64 << 20

// restorable reports whether a variable can be restored between launches: the driver finds only
// visible variables by their name. A variable that cannot be restored keeps its content, so the
// defects gate is red if a kernel reads and writes it, even if the call declares it.
func restorable(v *ptx.Var) bool { return v.Linkage != ptx.Internal && v.Size() <= mostVariable }

// declaredState returns the variables that the call declares as state and that are restored
// between launches.
func declaredState(s *Subject) map[string]bool {
	declared := map[string]bool{}
	for _, name := range s.Declares {
		declared[name] = true
	}
	m, err := parse.Parse(s.Name, s.PTX)
	if err != nil {
		return declared // the devices report it
	}
	for name := range keptVariables(m) {
		delete(declared, name)
	}
	return declared
}

// keptVariables returns the names of the writable variables of a module that cannot be restored,
// those of its functions too.
func keptVariables(m *ptx.Module) map[string]bool {
	kept := map[string]bool{}
	add := func(v *ptx.Var) {
		if v.Space == ptx.Global && !restorable(v) {
			kept[v.Sym.Name] = true
		}
	}
	for _, it := range m.Items {
		if v, ok := it.(*ptx.Var); ok {
			add(v)
		}
	}
	for _, f := range m.Funcs() {
		for _, st := range f.Body {
			if v, ok := st.(*ptx.Var); ok {
				add(v)
			}
		}
	}
	return kept
}

// findVariables returns the writable variables of a program that was just loaded.
func findVariables(p *device.Program) (list []variable, err error) {
	m, err := parse.Parse(p.Contract.Name, p.Contract.PTX)
	if err != nil {
		return nil, nil // the device has its own opinion on the text
	}
	for _, it := range m.Items {
		v, ok := it.(*ptx.Var)
		if !ok || v.Space != ptx.Global {
			continue
		}
		b, err := p.Variable(v.Sym.Name)
		if err != nil || b.Size() > mostVariable {
			continue // keptVariables names it
		}
		one, err := newVariable(p.Device(), b)
		if err != nil {
			return list, fmt.Errorf("variable %s: %w", v.Sym.Name, err)
		}
		list = append(list, one)
	}
	return list, nil
}

func newVariable(dev device.Device, b device.Buffer) (variable, error) {
	initial, err := dev.Alloc(b.Size())
	if err != nil {
		return variable{}, err
	}
	data := make([]byte, b.Size())
	err = b.Read(0, data)
	if err == nil {
		err = initial.Write(0, data)
	}
	if err != nil {
		return variable{}, errors.Join(err, initial.Free())
	}
	return variable{b, initial}, nil
}
