package emu

import (
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
)

// The generic address space: a window for each state space but the global one,
// which has the rest.
const (
	windowBits  = 40
	sharedBase  = 1 << windowBits
	localBase   = 2 << windowBits
	paramBase   = 3 << windowBits
	globalBase  = 0x7000_0000_0000
	guardBytes  = 256 // between allocations
	globalAlign = 512
)

// Within the shared window, and in 32-bit shared addresses, the top byte names a
// block of the cluster: 0 is one's own, r+1 the block of rank r.
const (
	rankShift  = 24
	sharedMask = 1<<rankShift - 1
)

// reservedShared is where the shared memory would be that a driver reserves. There is
// none: kernels may ask where, as cooperative groups do before they know whether they
// need it, and not use it.
const reservedShared = 0xff0000

// alloc is one allocation of global memory.
type alloc struct {
	addr uint64
	data []byte // aligned to 8
	name string // of a module's variable
	// readOnly is set for constant memory.
	readOnly bool
	heap     bool // from malloc in a kernel
	once     sync.Once
	told     *observe.Alloc // what observers know it by
}

// newBytes makes n bytes aligned to 8, so that atomics can work on them.
func newBytes(n int64) []byte {
	if n == 0 {
		return nil
	}
	words := make([]uint64, (n+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), n)
}

// memory is the global memory of a device.
type memory struct {
	mu     sync.RWMutex
	allocs []*alloc // by address
	next   uint64
	used   int64
	limit  int64
}

func newMemory(limit int64) *memory { return &memory{next: globalBase, limit: limit} }

// alloc makes an allocation with guard bands around it.
func (m *memory) alloc(size int64, align int, name string) (*alloc, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case size < 0:
		return nil, fmt.Errorf("allocation of %d bytes", size)
	case m.used+size > m.limit:
		return nil, fmt.Errorf("out of memory: %d bytes asked for, %d of %d in use", size, m.used, m.limit)
	}
	a := uint64(max(align, globalAlign))
	addr := (m.next + guardBytes + a - 1) &^ (a - 1)
	al := &alloc{addr: addr, data: newBytes(size), name: name}
	m.next = addr + uint64(size)
	m.used += size
	m.allocs = append(m.allocs, al)
	return al, nil
}

// free forgets an allocation. Its addresses are not used again, so that a stale
// pointer is found out.
func (m *memory) free(a *alloc) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := slices.Index(m.allocs, a); i >= 0 {
		m.allocs = slices.Delete(m.allocs, i, i+1)
		m.used -= int64(len(a.data))
	}
}

// find is the allocation that holds the address, or nil.
func (m *memory) find(addr uint64) *alloc {
	m.mu.RLock()
	defer m.mu.RUnlock()
	i, ok := slices.BinarySearchFunc(m.allocs, addr, func(a *alloc, addr uint64) int {
		switch {
		case a.addr <= addr && addr < a.addr+max(uint64(len(a.data)), 1):
			return 0
		case a.addr < addr:
			return -1
		}
		return 1
	})
	if !ok {
		return nil
	}
	return m.allocs[i]
}

// nearest describes an address that no allocation holds.
func (m *memory) nearest(addr uint64) string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, a := range m.allocs {
		end := a.addr + uint64(len(a.data))
		if addr >= end && addr-end < guardBytes {
			return fmt.Sprintf("%d bytes past the end of an allocation of %d", addr-end, len(a.data))
		}
		if addr < a.addr && a.addr-addr <= guardBytes {
			return fmt.Sprintf("%d bytes before an allocation of %d", a.addr-addr, len(a.data))
		}
	}
	return "in no allocation"
}
