package device

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/GOATnote-Inc/attest/internal/english"
)

// Dim is an extent in x, y and z. A zero counts as one.
type Dim struct{ X, Y, Z int }

// D returns a Dim of up to three extents.
func D(n ...int) Dim {
	n = append(n, 1, 1, 1)
	return Dim{n[0], n[1], n[2]}
}

// Norm returns the Dim with ones instead of zeros.
func (d Dim) Norm() Dim { return Dim{max(d.X, 1), max(d.Y, 1), max(d.Z, 1)} }

func (d Dim) negative() bool { return min(d.X, d.Y, d.Z) < 0 }

// Count returns the product of the extents.
func (d Dim) Count() int {
	d = d.Norm()
	return d.X * d.Y * d.Z
}

func (d Dim) String() string { return fmt.Sprintf("(%d, %d, %d)", d.X, d.Y, d.Z) }

// Launch is one run of a kernel.
type Launch struct {
	Grid, Block, Cluster Dim
	Shared               int // bytes of dynamic shared memory
	Params               []Param
	// Dependent selects programmatic dependent launch: the launch may start before the
	// previous launch in the stream has ended, as soon as all blocks of that launch have
	// executed griddepcontrol.launch_dependents. The kernel must execute griddepcontrol.wait
	// before it reads results of the previous launch.
	Dependent bool
	// Cooperative requires that all blocks run at the same time, so that they may wait for
	// each other.
	Cooperative bool
}

// Param holds the bytes of one kernel parameter.
type Param []byte

// Ptr returns a parameter that points to the start of a buffer.
func Ptr(b Buffer) Param { return U64(b.Addr()) }

// U8 returns a parameter of one byte.
func U8(v uint8) Param { return Param{v} }

// U32 returns a parameter of four bytes.
func U32(v uint32) Param { return binary.LittleEndian.AppendUint32(nil, v) }

// U64 returns a parameter of eight bytes.
func U64(v uint64) Param { return binary.LittleEndian.AppendUint64(nil, v) }

// F32 returns a parameter of type float.
func F32(v float32) Param { return U32(math.Float32bits(v)) }

// Check returns an error if a launch exceeds the limits of the device or does not fit the
// kernel's declaration. Every device calls it, so that all devices refuse the same launches
// with the same messages.
func (l Launch) Check(dev Info, k KernelInfo) error {
	b, c := l.Block.Norm(), l.Cluster.Norm()
	switch n := b.Count(); {
	case l.Grid.negative() || l.Block.negative() || l.Cluster.negative():
		return fmt.Errorf("launch of %s: grid %v of blocks %v in clusters %v has a negative extent", k.Name, l.Grid, l.Block, c)
	case b.X > 1024 || b.Y > 1024 || b.Z > 64 || n > dev.MaxThreads:
		return fmt.Errorf("launch of %s: blocks of %v have %d threads; %s allows at most %d, and (1024, 1024, 64) by dimension", k.Name, l.Block, n, dev.Name, dev.MaxThreads)
	case k.MaxThreads > 0 && n > k.MaxThreads:
		return fmt.Errorf("launch of %s: blocks of %d threads; the kernel was compiled for at most %d", k.Name, n, k.MaxThreads)
	case l.Grid.Y > 65535 || l.Grid.Z > 65535 || l.Grid.X > math.MaxInt32:
		return fmt.Errorf("launch of %s: grid %v is larger than (2147483647, 65535, 65535)", k.Name, l.Grid)
	case l.Shared < 0 || l.Shared > dev.SharedMax-k.Shared: // the sum may overflow
		return fmt.Errorf("launch of %s: %d static and %d dynamic bytes of shared memory; %s has %d per block", k.Name, k.Shared, l.Shared, dev.Name, dev.SharedMax)
	case c != Dim{1, 1, 1} && dev.Target.SM < 90:
		return fmt.Errorf("launch of %s: clusters need sm_90, %s is %s", k.Name, dev.Name, dev.Target)
	case l.Dependent && dev.Target.SM < 90:
		return fmt.Errorf("launch of %s: programmatic dependent launch needs sm_90, %s is %s", k.Name, dev.Name, dev.Target)
	case c.X > 16 || c.Y > 16 || c.Z > 16 || c.Count() > 16:
		return fmt.Errorf("launch of %s: a cluster of %v blocks; at most 16 are allowed", k.Name, c)
	}
	g := l.Grid.Norm()
	if g.X%c.X != 0 || g.Y%c.Y != 0 || g.Z%c.Z != 0 {
		return fmt.Errorf("launch of %s: grid %v is not a multiple of the cluster %v", k.Name, l.Grid, l.Cluster)
	}
	return l.checkParams(k)
}

func (l Launch) checkParams(k KernelInfo) error {
	if len(l.Params) != len(k.Params) {
		return fmt.Errorf("launch of %s: %s given, the kernel declares %d", k.Name, english.Are(len(l.Params), "parameter"), len(k.Params))
	}
	for i, p := range k.Params {
		if len(l.Params[i]) != p.Size {
			return fmt.Errorf("launch of %s: parameter %d (%s) has %d bytes, %d are given", k.Name, i, p.Name, p.Size, len(l.Params[i]))
		}
	}
	return nil
}
