package execrun

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/ptx/verify"
)

// modules are the modules of one schedule: the PTX file of the command, and those that the
// launch file names.
type modules struct {
	x      *Runner
	dev    device.Device
	loaded map[string]device.Module
}

// load loads the PTX file that a launch names, once.
func (m *modules) load(ctx context.Context, name string) (device.Module, error) {
	if mod := m.loaded[name]; mod != nil {
		return mod, nil
	}
	file, err := m.x.another(name)
	if err != nil {
		return nil, err
	}
	mod, err := m.x.load(ctx, m.dev, file)
	var invalid *verify.Invalid
	if errors.As(err, &invalid) {
		return nil, fmt.Errorf("%s is not valid PTX: attest ptx check %[1]s lists what is wrong", name)
	}
	if err != nil {
		return nil, err
	}
	m.loaded[name] = mod
	return mod, nil
}

// close closes all modules.
func (m *modules) close() {
	for _, mod := range m.loaded {
		mod.Close()
	}
}

// another returns a PTX file that the launch file names, relative to itself.
func (x *Runner) another(name string) (*cli.File, error) {
	if f := x.others[name]; f != nil {
		return f, nil
	}
	text, err := x.files.Read(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if in, err := x.files.name(name); err == nil {
		x.files.protect(filepath.Join(x.files.root.Name(), in))
	}
	f := cli.ParseFile(name, string(text))
	if f.Module == nil {
		return nil, fmt.Errorf("%s is not PTX: attest ptx check %[1]s lists what is wrong", name)
	}
	if x.others == nil {
		x.others = map[string]*cli.File{}
	}
	x.others[name] = f
	return f, nil
}

// fileOf returns the PTX file of a launch.
func (x *Runner) fileOf(l *Launch) *cli.File {
	if f := x.others[l.Module]; f != nil {
		return f
	}
	return x.file
}
