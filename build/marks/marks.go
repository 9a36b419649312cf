package marks

import (
	"encoding/binary"
	"fmt"

	"github.com/GOATnote-Inc/attest/build"
)

// Marks are the marked places of a kernel.
type Marks struct {
	k      *build.Kernel
	limit  int
	buffer build.Global[build.U64]
	next   *build.Var[build.U32] // how many words the warp has written
	first  build.U32             // the warp's first word
	names  []string
}

// The words of a warp: its SM, the time of the GPU and the clock of the SM at the start, and then one
// word per mark.
const (
	wordSM = iota
	wordTime
	wordClock
	header
)

const (
	wordBytes = 8
	// A word of a mark has the clock in its lower bits and the number of the name, from 1 on, above.
	clockBits = 48
	mostNames = 1<<(64-clockBits) - 1
)

// New declares the parameter "marks" of a kernel and lets each warp record up to limit marks. Call it at
// the start of the kernel, where all threads run, after the other parameters are declared. With limit 0
// the kernel stays as it is, and At does nothing.
func New(k *build.Kernel, limit int) *Marks {
	m := &Marks{k: k, limit: limit}
	if limit <= 0 {
		return m
	}
	m.buffer = build.ParamGlobal[build.U64](k, "marks")
	block := k.CtaidZ().MadLo(k.NctaidY(), k.CtaidY()).MadLo(k.NctaidX(), k.CtaidX())
	thread := k.TidZ().MadLo(k.NtidY(), k.TidY()).MadLo(k.NtidX(), k.TidX())
	threads := k.NtidX().MulLo(k.NtidY()).MulLo(k.NtidZ())
	warps := threads.Add(31).Shr(5)
	m.first = block.MadLo(warps, thread.Shr(5)).MulLo(m.words())
	m.next = build.NewVar(k.U32(header))
	k.If(k.Laneid().SetpEq(0), func() {
		at := m.buffer.At(m.first)
		at.Plus(wordSM).St(k.Smid().CvtU64())
		at.Plus(wordTime).St(k.Globaltimer())
		at.Plus(wordClock).St(k.Clock64())
	})
	return m
}

// words returns the number of words of a warp.
func (m *Marks) words() int { return header + m.limit }

// At records that the warp is here. Later marks than the limit are not recorded.
func (m *Marks) At(name string) {
	if m.limit <= 0 {
		return
	}
	id := m.number(name)
	k, next := m.k, m.next.Get()
	k.If(next.SetpLt(m.words()), func() {
		k.If(k.Laneid().SetpEq(0), func() {
			word := k.Clock64().And(1<<clockBits - 1).Or(uint64(id) << clockBits)
			m.buffer.At(m.first.Add(next)).St(word)
		})
		m.next.Set(next.Add(1))
	})
}

// number returns the number of a name.
func (m *Marks) number(name string) int {
	for i, n := range m.names {
		if n == name {
			return i + 1
		}
	}
	if len(m.names) == mostNames {
		panic("marks: too many names")
	}
	m.names = append(m.names, name)
	return len(m.names)
}

// Bytes returns the size of the buffer for a grid of blocks with some threads each.
func (m *Marks) Bytes(blocks, threads int) int64 {
	if m.limit <= 0 {
		return 0
	}
	return int64(blocks) * int64(warpsOf(threads)) * int64(m.words()) * wordBytes
}

func warpsOf(threads int) int { return (threads + 31) / 32 }

// Warp is what a warp recorded.
type Warp struct {
	Block, Warp int
	SM          int
	Time        uint64 // of the GPU at the start of the warp, in nanoseconds
	Clock       uint64 // of the SM at the start of the warp, in cycles
	Marks       []Mark // in the order in which they were reached
}

// Mark is a place that a warp reached.
type Mark struct {
	Name  string
	Clock uint64 // of the SM, in cycles
}

// Read decodes the buffer of a launch of blocks with some threads each.
func (m *Marks) Read(buffer []byte, blocks, threads int) (list []Warp, err error) {
	if want := m.Bytes(blocks, threads); int64(len(buffer)) != want {
		return nil, fmt.Errorf("the buffer of marks has %d bytes, and %d blocks of %d threads write %d", len(buffer), blocks, threads, want)
	}
	warps := warpsOf(threads)
	for i := range blocks * warps {
		words := buffer[i*m.words()*wordBytes : (i+1)*m.words()*wordBytes]
		word := func(n int) uint64 { return binary.LittleEndian.Uint64(words[n*wordBytes:]) }
		w := Warp{Block: i / warps, Warp: i % warps, SM: int(word(wordSM)), Time: word(wordTime), Clock: word(wordClock)}
		for n := header; n < m.words() && word(n) != 0; n++ {
			id := int(word(n) >> clockBits)
			if id < 1 || id > len(m.names) {
				return nil, fmt.Errorf("word %d of warp %d of block %d names mark %d, and the kernel has %d: the buffer did not start with zeros, or belongs to another kernel", n, w.Warp, w.Block, id, len(m.names))
			}
			low := word(n) & (1<<clockBits - 1)
			w.Marks = append(w.Marks, Mark{m.names[id-1], unfold(w.Clock, low)})
		}
		list = append(list, w)
	}
	return list, nil
}

// unfold returns the clock at a mark from its lower bits and an earlier clock.
func unfold(before, low uint64) uint64 {
	clock := before&^(1<<clockBits-1) | low
	if clock < before {
		clock += 1 << clockBits
	}
	return clock
}
