package kerneltest

import (
	"runtime"
	"sync"

	"github.com/GOATnote-Inc/attest/device"
)

// CompileAll compiles texts, many at a time: a driver takes half a second for each, and keeps what it
// has compiled in a cache. A text that it cannot compile is reported when it is loaded again.
func CompileAll(dev device.Device, texts []string) {
	var group sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, text := range texts {
		free <- struct{}{}
		group.Go(func() {
			defer func() { <-free }()
			if m, err := dev.Load("kernel.ptx", text); err == nil {
				m.Close()
			}
		})
	}
	group.Wait()
}
