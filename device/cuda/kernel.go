package cuda

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// kernel is an entry of a module.
type kernel struct {
	d        *Device
	fn       uintptr
	info     device.KernelInfo
	offsets  []int      // the offsets of the parameters in launchCall.data
	size     int        // bytes of all parameters in launchCall.data
	compiled device.Dim // the cluster that the kernel was compiled for; zero if for none

	mu      sync.Mutex   // held while an attribute is set
	dynamic atomic.Int64 // bytes of dynamic shared memory that are allowed
	large   atomic.Bool  // clusters of more than 8 blocks are allowed
}

// The function attributes that are read and set.
const (
	funcMaxThreads         = 0
	funcShared             = 1
	funcLocal              = 3
	funcRegisters          = 4
	funcMaxDynamicShared   = 8
	funcNonPortableCluster = 14
)

// describe queries the kernel's attributes and computes the layout of its parameters.
func (k *kernel) describe(f *ptx.Func) {
	attr := func(a int32) int {
		var v int32
		if k.d.lib.funcGetAttribute(&v, a, k.fn) != success {
			return 0
		}
		return int(v)
	}
	k.info = device.KernelInfo{
		Name: f.Sym.Name, Registers: attr(funcRegisters), Shared: attr(funcShared),
		Local: attr(funcLocal), MaxThreads: attr(funcMaxThreads),
	}
	for _, p := range f.Params {
		size, align := int(p.Size()), max(p.Alignment(), 1)
		k.info.Params = append(k.info.Params, device.ParamInfo{Name: p.Sym.Name, Size: size, Align: align})
		k.size = (k.size + align - 1) / align * align
		k.offsets = append(k.offsets, k.size)
		k.size += size
	}
	if d := f.Directive(".reqnctapercluster"); d != nil {
		var n []int
		for _, a := range d.Args {
			n = append(n, int(a.Val))
		}
		k.compiled = device.D(n...)
	}
	k.dynamic.Store(int64(k.d.info.SharedDefault - k.info.Shared))
}

// Info describes the kernel.
func (k *kernel) Info() device.KernelInfo { return k.info }

// admit checks a launch and sets the attributes that the kernel needs for it.
func (k *kernel) admit(l *device.Launch) error {
	if k.compiled != (device.Dim{}) {
		if l.Cluster.Count() > 1 && l.Cluster.Norm() != k.compiled {
			return fmt.Errorf("launch of %s with clusters of %v: the kernel was compiled for clusters of %v", k.info.Name, l.Cluster, k.compiled)
		}
		l.Cluster = k.compiled
	}
	if err := l.Check(k.d.info, k.info); err != nil {
		return err
	}
	if int64(l.Shared) > k.dynamic.Load() {
		if err := k.allowShared(int64(l.Shared)); err != nil {
			return err
		}
	}
	if l.Cluster.Count() > 8 && !k.large.Load() {
		return k.allowLargeClusters()
	}
	return nil
}

// allowShared raises the limit of dynamic shared memory. The limit is never lowered, because
// another goroutine may rely on it.
func (k *kernel) allowShared(n int64) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if n <= k.dynamic.Load() {
		return nil
	}
	err := k.set(funcMaxDynamicShared, int32(n))
	if err != nil {
		return fmt.Errorf("launch of %s: %d bytes of dynamic shared memory: %w", k.info.Name, n, err)
	}
	k.dynamic.Store(n)
	return nil
}

func (k *kernel) allowLargeClusters() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.set(funcNonPortableCluster, 1); err != nil {
		return fmt.Errorf("launch of %s: clusters of more than 8 blocks: %w", k.info.Name, err)
	}
	k.large.Store(true)
	return nil
}

func (k *kernel) set(attr, v int32) error {
	return k.d.call("cuFuncSetAttribute", func() result { return k.d.lib.funcSetAttribute(k.fn, attr, v) })
}

// Occupancy returns how much of a launch fits on the GPU at once.
func (k *kernel) Occupancy(l device.Launch) (o device.Occupancy, err error) {
	l.Params = make([]device.Param, len(k.info.Params))
	for i, p := range k.info.Params {
		l.Params[i] = make(device.Param, p.Size)
	}
	if err := k.admit(&l); err != nil {
		return o, err
	}
	threads := l.Block.Count()
	var n int32
	err = k.d.call("cuOccupancyMaxActiveBlocksPerMultiprocessor", func() result {
		return k.d.lib.maxActiveBlocks(&n, k.fn, int32(threads), uint64(l.Shared))
	})
	if err != nil {
		return o, fmt.Errorf("occupancy of %s: %w", k.info.Name, err)
	}
	o.BlocksPerSM = int(n)
	o.Warps = o.BlocksPerSM * ((threads + 31) / 32)
	if k.d.info.ThreadsPerSM > 0 {
		o.Fraction = float64(32*o.Warps) / float64(k.d.info.ThreadsPerSM)
	}
	if l.Cluster.Count() == 1 {
		return o, nil
	}
	c := k.pack(nullStream, &l)
	defer c.free()
	c.cluster(l.Cluster) // this call needs the attribute even if the kernel was compiled for a cluster
	err = k.d.call("cuOccupancyMaxActiveClusters", func() result { return k.d.lib.maxActiveCluster(&n, k.fn, &c.cfg) })
	if err != nil {
		return o, fmt.Errorf("occupancy of %s: %w", k.info.Name, err)
	}
	o.Clusters = int(n)
	return o, nil
}
