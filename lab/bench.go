package lab

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
)

// guard is the least size in bytes of the bands on both sides of a buffer. A kernel must not write
// them, nor use what it reads there.
const guard = 256

// poison marks elements that were not written: it is a NaN in every type, with bits that no
// instruction produces.
const poison = 0xff

// loaded is a subject on a device.
type loaded struct {
	*device.Program
	subject *Subject
	guard   int64      // the least number of bytes around buffers
	sets    int        // how often memory was allocated
	random  *rand.Rand // the source of the bytes in guard bands, outputs and workspaces
}

// load compiles a subject. sms replaces the number of SMs of the device unless it is 0. The seed
// decides what is in guard bands, outputs and workspaces.
func load(dev device.Device, s *Subject, sms int, seed uint64) (*loaded, error) {
	p, err := device.LoadProgram(dev, s.Kernel)
	if err != nil {
		return nil, err
	}
	p.SMs = sms
	return &loaded{Program: p, subject: s, guard: guard, random: rand.New(rand.NewPCG(seed, 2))}, nil
}

func (l *loaded) close() error { return l.Close() }

// occupancy returns the occupancy of the first launch, or nil if the device does not know it.
func (l *loaded) occupancy(shape problem.Shape) *device.Occupancy {
	plan, err := l.Bind(l.subject.At(shape), anyScales)
	if err != nil {
		return nil
	}
	return l.Occupancy(plan.Steps[0])
}

// operand is a buffer between guard bands.
type operand struct {
	kernel.Memory
	buffer device.Buffer
	guard  int64
	bands  [2][]byte // the content of the guard bands
}

// addr returns the address of the first byte after the guard band.
func (o *operand) addr() uint64 { return o.buffer.Addr() + uint64(o.guard) }

// bandsAt returns the offsets where the guard bands start.
func (o *operand) bandsAt() [2]int64 { return [2]int64{0, o.guard + o.Bytes} }

// bench is a subject with the memory of one problem.
type bench struct {
	*loaded
	operands []*operand
	work     *device.Work
	in       *inputs // the inputs that were written last
}

// set allocates the memory for inputs: their shape, the arguments that vary, and the scales that
// are passed by value. Only the guard bands are initialised.
func (l *loaded) set(in *inputs) (*bench, error) {
	plan, err := l.Bind(l.subject.varied(in.vary).At(in.shape), in.scales)
	if err != nil {
		return nil, err
	}
	b := &bench{loaded: l, operands: make([]*operand, 0, len(plan.Memory))}
	memory := make([]device.Slice, len(plan.Memory))
	own := make([]*operand, len(plan.Memory))
	l.sets++
	for n := range plan.Memory {
		// Every other time the last buffer comes first, so a kernel cannot rely on the order of addresses.
		i := n
		if l.sets%2 == 0 {
			i = len(plan.Memory) - 1 - n
		}
		// Buffers begin at all kinds of multiples of guard, so a kernel cannot recognise the lab
		// by its alignment.
		m, guard := plan.Memory[i], l.guard*int64(1+(l.sets+i)%4)
		buf, err := l.Device().Alloc(m.Bytes + 2*guard)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s of %d bytes: %w", m.Name, m.Bytes, err), b.free())
		}
		own[i] = &operand{Memory: m, buffer: buf, guard: guard}
		b.operands, memory[i] = append(b.operands, own[i]), device.Slice{Buffer: buf, Offset: guard}
	}
	b.operands = own
	if err := b.reband(); err != nil {
		return nil, errors.Join(err, b.free())
	}
	if b.work, err = l.Work(plan, memory); err != nil {
		return nil, errors.Join(err, b.free())
	}
	return b, nil
}

func (b *bench) free() (err error) {
	for _, o := range b.operands {
		err = errors.Join(err, o.buffer.Free())
	}
	return err
}

func filled(n int64, value byte) []byte { return bytes.Repeat([]byte{value}, int(n)) }

func (b *bench) operand(name string) *operand {
	i := slices.IndexFunc(b.operands, func(o *operand) bool { return o.Name == name })
	if i < 0 {
		return nil
	}
	return b.operands[i]
}

// write writes the inputs.
func (b *bench) write(in *inputs) error {
	b.in = in
	for _, o := range b.operands {
		data := b.given(o)
		if o.Role.Writable() && data == nil {
			continue
		}
		if int64(len(data)) != o.Bytes {
			return fmt.Errorf("%s has %d bytes, but the kernel expects %d", o.Name, len(data), o.Bytes)
		}
		if err := o.buffer.Write(o.guard, data); err != nil {
			return err
		}
	}
	return nil
}

// spoil poisons outputs and workspaces.
func (b *bench) spoil() error { return b.fill(poison) }

// fill sets every byte of outputs and workspaces, or zero where the kernel wants zeros.
func (b *bench) fill(value byte) error {
	for _, o := range b.operands {
		if !o.Role.Writable() {
			continue
		}
		if restored, err := b.restore(o); restored || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		value := value
		if o.Init != kernel.AsIs {
			value = 0
		}
		if err := o.buffer.Write(o.guard, filled(o.Bytes, value)); err != nil {
			return err
		}
	}
	return nil
}

// undefine tells the checkers that outputs and workspaces are not written yet, except those that
// the kernel wants to be zero.
func (b *bench) undefine() {
	for _, o := range b.operands {
		if u, ok := o.buffer.(device.Undefiner); ok && o.Role.Writable() && o.Role != kernel.InOut && o.Init == kernel.AsIs {
			u.Undefine(o.guard, o.Bytes, true)
		}
	}
}

// read returns the content of an operand, or nil if the kernel has no such operand.
func (b *bench) read(name string) ([]byte, error) {
	o := b.operand(name)
	if o == nil {
		return nil, nil
	}
	data := make([]byte, o.Bytes)
	return data, o.buffer.Read(o.guard, data)
}

// outputs are the outputs of a kernel.
type outputs struct{ o, lse []byte }

func (a outputs) same(b outputs) bool { return bytes.Equal(a.o, b.o) && bytes.Equal(a.lse, b.lse) }

func (b *bench) outputs() (out outputs, err error) {
	if out.o, err = b.read("o"); err != nil {
		return out, err
	}
	out.lse, err = b.read("lse")
	return out, err
}

// run poisons the outputs, launches the kernel and reads the outputs.
func (b *bench) run(ctx context.Context) (outputs, error) {
	if err := errors.Join(b.spoil(), b.work.Run(ctx)); err != nil {
		return outputs{}, err
	}
	return b.outputs()
}

// reband writes new random bytes to the guard bands, so that a kernel can neither know them nor
// get the same result from them twice.
func (b *bench) reband() error {
	for _, o := range b.operands {
		for i, at := range o.bandsAt() {
			o.bands[i] = noise(o.guard, b.random.Uint64())
			if err := o.buffer.Write(at, o.bands[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// noise returns random bytes.
func noise(n int64, seed uint64) []byte {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	data := make([]byte, n)
	rand.NewChaCha8(key).Read(data)
	return data
}

// noise returns random bytes for an operand, or nil if the kernel has no such operand.
func (b *bench) noise(name string, seed uint64) []byte {
	i := slices.IndexFunc(b.operands, func(o *operand) bool { return o.Name == name })
	if i < 0 {
		return nil
	}
	return noise(b.operands[i].Bytes, seed+uint64(i))
}

// under returns what fillNoise writes to an operand, without the complement.
func (b *bench) under(name string, seed uint64) []byte {
	data := b.noise(name, seed)
	if o := b.operand(name); o != nil && o.Init != kernel.AsIs {
		clear(data)
	}
	return data
}

// fillNoise writes random bytes, or their complement, to outputs and workspaces, or zeros where
// the kernel wants zeros.
func (b *bench) fillNoise(seed uint64, complement bool) error {
	for _, o := range b.operands {
		if !o.Role.Writable() {
			continue
		}
		if restored, err := b.restore(o); restored || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		data := b.under(o.Name, seed)
		if complement && o.Init == kernel.AsIs {
			for i := range data {
				data[i] = ^data[i]
			}
		}
		if err := o.buffer.Write(o.guard, data); err != nil {
			return err
		}
	}
	return nil
}

// overrun returns the names of the buffers whose guard bands were written.
func (b *bench) overrun() ([]string, error) {
	var names []string
	for _, o := range b.operands {
		have := make([]byte, o.guard)
		for i, at := range o.bandsAt() {
			if err := o.buffer.Read(at, have); err != nil {
				return nil, err
			}
			if !bytes.Equal(o.bands[i], have) {
				names = append(names, o.Name)
				break
			}
		}
	}
	return names, nil
}

// changed returns the names of the inputs that were changed.
func (b *bench) changed(in *inputs) ([]string, error) {
	var names []string
	for _, name := range sorted.Keys(in.data) {
		have, err := b.read(name)
		if err != nil {
			return nil, err
		}
		if have != nil && in.after[name] == nil && !bytes.Equal(have, in.data[name]) {
			names = append(names, name)
		}
	}
	return names, nil
}

// unwritten returns the number of elements that still hold the poison.
func unwritten(data []byte, size int) (n int) {
	for i := 0; i+size <= len(data); i += size {
		if all(data[i:i+size], poison) {
			n++
		}
	}
	return n
}

// twice compares the outputs of two runs: the first over some bytes, the second over their
// complement. It returns the number of elements that no run has written, and whether all other
// elements have the same bits. It poisons the elements that were not written in the first
// output.
func twice(first, second, under []byte, size int) (unwritten int, same bool) {
	same = true
	for i := 0; i+size <= len(first); i += size {
		switch a, b := first[i:i+size], second[i:i+size]; {
		case bytes.Equal(a, b):
		case bytes.Equal(a, under[i:i+size]) && complements(a, b):
			unwritten++
			copy(a, filled(int64(size), poison))
		default:
			same = false
		}
	}
	return unwritten, same
}

// complements reports whether every bit of a and b differs.
func complements(a, b []byte) bool {
	for i := range a {
		if a[i] != ^b[i] {
			return false
		}
	}
	return true
}

func all(data []byte, value byte) bool { return bytes.Count(data, []byte{value}) == len(data) }
