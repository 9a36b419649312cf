package resources

import (
	"errors"
	"fmt"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/verify"
)

// compile gets the figures from the compiler of a device, which knows only that device.
func (r *Report) compile(name, text string, target ptx.Target, dev device.Device) error {
	if dev == nil {
		return errors.New("there is no GPU whose driver could compile the kernel")
	}
	info := dev.Info()
	if info.Target != target && info.Target.SM != target.SM {
		return fmt.Errorf("%s is %s, and its driver does not compile for %s", info.Name, info.Target, target)
	}
	m, err := dev.Load(name, text)
	if err != nil {
		return fmt.Errorf("%s: %w", info.Name, err)
	}
	defer m.Close()
	return r.each(func(u *Usage) error {
		k, err := m.Kernel(u.Kernel)
		if err != nil {
			return err
		}
		i := k.Info()
		if i.Registers == 0 {
			return fmt.Errorf("%s does not report registers", info.Name)
		}
		u.Registers, u.Stack, u.Shared = Figure{i.Registers, JIT}, Figure{i.Local, JIT}, Figure{i.Shared, JIT}
		return nil
	})
}

// estimate computes registers from live ranges, and shared memory from the declarations.
// ptxas removes shared variables that no instruction uses, so its figure can be less.
func (r *Report) estimate(m *ptx.Module) {
	for i := range r.Kernels {
		u := &r.Kernels[i]
		f := m.Func(u.Kernel)
		u.Registers = Figure{verify.Pressure(f, verify.NewCFG(f)).Registers, Estimate}
		u.Shared = Figure{int(verify.SharedStatic(m, f)), Estimate}
	}
}
