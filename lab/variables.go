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

// mostVariable is the size in bytes up to which variables are restored. A variable that is
// larger, or that the driver does not find by its name because it is not visible, keeps its
// content; the defects gate reports that the kernel reads it.
const mostVariable = 64 << 20

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
			continue
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
