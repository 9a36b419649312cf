package cuda

import (
	"fmt"
	"sync"

	"github.com/GOATnote-Inc/attest/device"
	contract "github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// module is PTX that the driver has compiled.
type module struct {
	d      *Device
	handle uintptr
	mod    *ptx.Module
	name   string
	log    string

	mu      sync.Mutex
	kernels map[string]*kernel
}

// Load compiles PTX with the options of the Device. If the compiler refuses the text, the
// error is a [*device.CompileError].
func (d *Device) Load(name, text string) (device.Module, error) {
	return d.LoadWith(name, text, d.opts.JIT)
}

// LoadWith is Load with other options.
func (d *Device) LoadWith(name, text string, j JIT) (device.Module, error) {
	if err := j.check(); err != nil {
		return nil, err
	}
	m, err := parse.Parse(name, text)
	if err != nil {
		return nil, err
	}
	if !d.info.Target.Runs(m.Target) {
		return nil, &device.CompileError{File: name, Err: fmt.Errorf(
			".target %s does not run on %s: compile it for %s, or use a newer GPU",
			m.Target, d.info.Name, d.info.Target)}
	}
	out := &module{d: d, mod: m, name: name, kernels: map[string]*kernel{}}
	if out.handle, out.log, err = d.compile(m, name, text, j); err != nil {
		return nil, err
	}
	return out, nil
}

// Log returns the log of the compiler. It is empty if the driver had the code in its cache.
func (m *module) Log() string { return m.log }

func (m *module) Close() error {
	return m.d.call("cuModuleUnload", func() result { return m.d.lib.moduleUnload(m.handle) })
}

func (m *module) Global(name string) (device.Buffer, error) {
	b := &buffer{p: m.d.primary}
	var n uint64
	err := m.d.call("cuModuleGetGlobal", func() result { return m.d.lib.moduleGetGlobal(&b.addr, &n, m.handle, name) })
	if err != nil {
		return nil, fmt.Errorf("%s: variable %q: %w", m.name, name, err)
	}
	b.size = int64(n)
	return b, nil
}

// Kernel returns a kernel by its name. It always returns the same value for a name, so that
// all users of a kernel share the attributes that were set.
func (m *module) Kernel(name string) (device.Kernel, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k := m.kernels[name]; k != nil {
		return k, nil
	}
	f := m.mod.Func(name)
	if f == nil || !f.Entry {
		return nil, fmt.Errorf("%s: %w", m.name, contract.MissingEntry(m.mod, name))
	}
	k := &kernel{d: m.d}
	err := m.d.call("cuModuleGetFunction", func() result {
		r := m.d.lib.moduleGetFunction(&k.fn, m.handle, name)
		if r == success {
			k.describe(f)
		}
		return r
	})
	if err != nil {
		return nil, fmt.Errorf("%s: kernel %q: %w", m.name, name, err)
	}
	m.kernels[name] = k
	return k, nil
}
