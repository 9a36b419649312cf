package memory

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"unsafe"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/ptx"
)

// GenericBase returns the start of a state space's window in the generic address space.
func GenericBase(s ptx.Space) uint64 {
	switch s {
	case ptx.Shared:
		return SharedBase
	case ptx.Local:
		return LocalBase
	case ptx.Param:
		return ParamBase
	}
	return 0
}

// Info returns the allocation as observers see it.
func (a *Alloc) Info() *observe.Alloc {
	a.once.Do(func() { a.info = &observe.Alloc{Addr: a.Addr, Size: len(a.Data), Data: a.Data, Name: a.name} })
	return a.info
}

// The generic address space has one window for each state space except global memory.
// Global memory has the remaining addresses.
const (
	WindowBits  = 40
	SharedBase  = 1 << WindowBits
	LocalBase   = 2 << WindowBits
	ParamBase   = 3 << WindowBits
	globalBase  = 0x7000_0000_0000
	lowestBase  = 4 << WindowBits // of global memory with random addresses
	highestBase = 0x20 << WindowBits
	lastGap     = 0x7f << WindowBits // from here on, such allocations have no gaps
	gapBits     = 38                 // of the largest gap between them
	GuardBytes  = 256                // between allocations
	GlobalAlign = 512
)

// Within the shared window, and in 32-bit shared addresses, the top byte selects a
// block of the cluster: 0 is the own block, r+1 the block of rank r.
const (
	RankShift  = 24
	SharedMask = 1<<RankShift - 1
)

// ReservedShared is the address of the shared memory that the CUDA driver reserves. The
// emulator does not have this memory: kernels may read the address, as cooperative groups
// always do, but must not access the memory.
const ReservedShared = 0xff0000

// Alloc is one allocation of global memory.
type Alloc struct {
	Addr uint64
	Data []byte // aligned to 8
	name string // the name of the module's variable, or empty

	ReadOnly bool // constant memory
	Heap     bool // allocated by malloc in a kernel
	once     sync.Once
	info     *observe.Alloc // the same allocation for observers
}

// NewBytes makes n bytes aligned to 8, so that atomics can work on them.
func NewBytes(n int64) []byte {
	if n == 0 {
		return nil
	}
	words := make([]uint64, (n+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), n)
}

// Global is the global memory of a device.
type Global struct {
	mu     sync.RWMutex
	allocs []*Alloc // by address
	next   uint64
	used   int64
	limit  int64
	gaps   *rand.Rand // between allocations; nil makes them as small as possible
}

// NewGlobal returns global memory of limit bytes. A seed that is not 0 decides where it begins and
// how far apart allocations are: the addresses of a GPU differ between processes.
func NewGlobal(limit int64, seed uint64) *Global {
	m := &Global{next: globalBase, limit: limit}
	if seed != 0 {
		m.gaps = rand.New(rand.NewPCG(seed, 0))
		m.next = lowestBase + m.gaps.Uint64N(highestBase-lowestBase)
	}
	return m
}

// Alloc allocates memory with guard bands around it.
func (m *Global) Alloc(size int64, align int, name string) (*Alloc, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case size < 0:
		return nil, fmt.Errorf("an allocation of %d bytes: the size must not be negative", size)
	case size > m.limit-m.used:
		return nil, fmt.Errorf("out of memory: %d bytes requested, %d of %d bytes in use", size, m.used, m.limit)
	}
	a := uint64(max(align, GlobalAlign))
	addr := m.next + GuardBytes
	if m.gaps != nil && addr < lastGap {
		addr += m.gaps.Uint64N(1 << m.gaps.IntN(gapBits+1))
	}
	addr = (addr + a - 1) &^ (a - 1)
	al := &Alloc{Addr: addr, Data: NewBytes(size), name: name}
	m.next = addr + uint64(size)
	m.used += size
	m.allocs = append(m.allocs, al)
	return al, nil
}

// Free removes an allocation. Its addresses are never used again, so an access through a
// stale pointer faults.
func (m *Global) Free(a *Alloc) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := slices.Index(m.allocs, a); i >= 0 {
		m.allocs = slices.Delete(m.allocs, i, i+1)
		m.used -= int64(len(a.Data))
	}
}

// Saved is the contents of global memory at one moment.
type Saved struct {
	m      *Global
	next   uint64
	allocs []*Alloc
	data   [][]byte
}

// mostSaved is the size of the largest global memory that Save copies, in bytes.
const mostSaved = 1 << 30

// Save copies the contents of all allocations. It returns nil if that is too much memory.
func (m *Global) Save() *Saved {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.used > mostSaved {
		return nil
	}
	s := &Saved{m: m, next: m.next}
	for _, a := range m.allocs {
		if !a.ReadOnly {
			s.allocs, s.data = append(s.allocs, a), append(s.data, bytes.Clone(a.Data))
		}
	}
	return s
}

// Restore restores the contents. It does nothing and returns false if memory has been allocated
// since.
func (s *Saved) Restore() bool {
	s.m.mu.RLock()
	defer s.m.mu.RUnlock()
	if s.m.next != s.next {
		return false
	}
	for i, a := range s.allocs {
		copy(a.Data, s.data[i])
	}
	return true
}

// FreeAll removes all allocations for which gone holds.
func (m *Global) FreeAll(gone func(*Alloc) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.allocs = slices.DeleteFunc(m.allocs, func(a *Alloc) bool {
		if !gone(a) {
			return false
		}
		m.used -= int64(len(a.Data))
		return true
	})
}

// Find returns the allocation that holds the address, or nil.
func (m *Global) Find(addr uint64) *Alloc {
	m.mu.RLock()
	defer m.mu.RUnlock()
	i, ok := slices.BinarySearchFunc(m.allocs, addr, func(a *Alloc, addr uint64) int {
		switch {
		case a.Addr <= addr && addr < a.Addr+max(uint64(len(a.Data)), 1):
			return 0
		case a.Addr < addr:
			return -1
		}
		return 1
	})
	if !ok {
		return nil
	}
	return m.allocs[i]
}

// Nearest describes an address outside all allocations by the allocation next to it.
func (m *Global) Nearest(addr uint64) string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, a := range m.allocs {
		end := a.Addr + uint64(len(a.Data))
		if addr >= end && addr-end < GuardBytes {
			return fmt.Sprintf("%s past the end of an allocation of %s", english.Count(addr-end, "byte"), english.Count(len(a.Data), "byte"))
		}
		if addr < a.Addr && a.Addr-addr <= GuardBytes {
			return fmt.Sprintf("%s before an allocation of %s", english.Count(a.Addr-addr, "byte"), english.Count(len(a.Data), "byte"))
		}
	}
	return "in no allocation"
}
