package cuda

import (
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/GOATnote-Inc/attest/device"
)

// driver opens GPUs for package device.
type driver struct{}

func init() { device.Register("cuda", driver{}) }

// Present reports whether there is a GPU.
func (driver) Present() bool {
	l, err := load()
	if err != nil {
		return false
	}
	_, err = l.count()
	return err == nil
}

// Open opens a GPU by its index. An empty arg means GPU 0.
func (driver) Open(arg string) (device.Device, error) {
	index := 0
	if arg != "" {
		var err error
		if index, err = strconv.Atoi(arg); err != nil || index < 0 {
			return nil, fmt.Errorf("GPU %q: give its index, as in cuda:0", arg)
		}
	}
	d, err := Open(index)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Device is a GPU.
type Device struct {
	*primary
	info   device.Info
	opts   Options
	cache  *cache
	closed atomic.Bool
}

var (
	_ device.Streamer        = (*Device)(nil)
	_ device.OccupancyKernel = (*kernel)(nil)
	_ device.LoggedModule    = (*module)(nil)
)

// Options choose how a Device compiles.
type Options struct {
	// JIT is how modules are compiled.
	JIT JIT
	// CacheDir is the folder for relocatable code. If it is empty, ATTEST_CACHE names the
	// folder, or else it is attest's folder in os.UserCacheDir.
	CacheDir string
	// NoCache disables the cache.
	NoCache bool
}

// Open opens the GPU with an index.
func Open(index int) (*Device, error) { return OpenWith(index, Options{}) }

// OpenWith is Open with options.
func OpenWith(index int, opts Options) (*Device, error) {
	l, err := load()
	if err != nil {
		return nil, err
	}
	return l.open(index, opts)
}

func (l *library) open(index int, opts Options) (*Device, error) {
	if err := opts.JIT.check(); err != nil {
		return nil, err
	}
	dev, err := l.device(index)
	if err != nil {
		return nil, err
	}
	p, err := l.retain(dev)
	if err != nil {
		return nil, err
	}
	return &Device{primary: p, info: l.describe(dev), opts: opts, cache: openCache(opts)}, nil
}

// Info describes the GPU.
func (d *Device) Info() device.Info { return d.info }

// FreeMemory returns the number of free bytes of the GPU's memory.
func (d *Device) FreeMemory() (int64, error) {
	var free, total uint64
	err := d.call("cuMemGetInfo", func() result { return d.lib.memGetInfo(&free, &total) })
	return int64(free), err
}

// Close releases the context. When the last Device of the process releases it, the driver
// frees everything that was created on the GPU. Close does not wait for a kernel that hangs:
// the error is then [device.ErrRunning].
func (d *Device) Close() error {
	if d.closed.Swap(true) {
		return nil
	}
	return d.release()
}
