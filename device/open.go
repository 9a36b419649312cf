package device

import (
	"fmt"
	"strings"
	"sync"

	"github.com/GOATnote-Inc/attest/internal/sorted"
)

// Driver opens devices of one kind.
type Driver interface {
	// Open opens the device that arg names: a target for the emulator, an index for a GPU. An
	// empty arg means the default.
	Open(arg string) (Device, error)
	// Present reports whether there is any device of the kind.
	Present() bool
}

var (
	mu      sync.Mutex
	drivers = map[string]Driver{}
)

// Register registers a driver under a name. The packages of drivers call it in init.
func Register(name string, d Driver) {
	mu.Lock()
	defer mu.Unlock()
	drivers[name] = d
}

// Open opens a device by its name: "emu", "emu:sm_89", "cuda:0". An empty name means a GPU
// if there is one, else the emulator.
func Open(name string) (Device, error) {
	mu.Lock()
	defer mu.Unlock()
	if name == "" {
		name = "emu"
		if d, ok := drivers["cuda"]; ok && d.Present() {
			name = "cuda"
		}
	}
	kind, arg, _ := strings.Cut(name, ":")
	d, ok := drivers[kind]
	if !ok {
		known := sorted.Keys(drivers)
		return nil, fmt.Errorf("no device %q: this program has %s", name, strings.Join(known, ", "))
	}
	return d.Open(arg)
}
