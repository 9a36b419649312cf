package cuda

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ebitengine/purego"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/internal/isatest"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// TestCardMultimem runs the variants of multimem on multicast memory that has one copy, and on the
// emulator. Both must give the same bits.
func TestCardMultimem(t *testing.T) {
	d, err := Open(0)
	if err != nil {
		t.Skip(err)
	}
	defer d.Close()
	var can int32
	must(t, d.call("cuDeviceGetAttribute", func() result { return d.lib.deviceGetAttr(&can, 132, 0) })) // MULTICAST_SUPPORTED
	if can == 0 {
		t.Skipf("%s has no multicast memory in this machine", d.Info().Name)
	}
	multicast, alias, err := newMulticast(d)
	if err != nil {
		t.Skipf("no multicast memory with one copy: %v", err)
	}
	e, err := emu.New(ptx.SM90a, emu.Options{})
	must(t, err)
	plain, err := e.Alloc(multimemBytes)
	must(t, err)
	variants := multimemVariants()
	for i, m := range variants {
		data := multimemInputs(rand.New(rand.NewPCG(43, uint64(i))))
		gotMemory, gotOut := runMultimem(t, e, m, data, plain.Addr(), plain)
		wantMemory, wantOut := runMultimem(t, d, m, data, multicast, alias)
		if !slices.Equal(gotMemory, wantMemory) || !slices.Equal(gotOut, wantOut) {
			t.Errorf("%s: of the data\n%x\nthe emulator leaves\n%x\nand loads\n%x\nthe GPU leaves\n%x\nand loads\n%x", m.Opcode().Text, data, gotMemory, gotOut, wantMemory, wantOut)
		}
	}
	t.Logf("%d variants", len(variants))
}

// TestMultimemTexts checks that the emulator runs the kernels of TestCardMultimem, and what a load, a
// store and a reduction do.
func TestMultimemTexts(t *testing.T) {
	e, err := emu.New(ptx.SM90a, emu.Options{})
	must(t, err)
	b, err := e.Alloc(multimemBytes)
	must(t, err)
	assembler, err := isatest.Find()
	if err != nil {
		t.Log(err)
	}
	variants := multimemVariants()
	if len(variants) < 100 {
		t.Errorf("only %d variants", len(variants))
	}
	for i, m := range variants {
		if assembler != nil && i%20 == 0 {
			text, err := parse.Parse("k.ptx", multimemText(m))
			must(t, err)
			if err := assembler.Assemble(text); err != nil {
				t.Error(err)
			}
		}
		data := multimemInputs(rand.New(rand.NewPCG(43, 43)))
		memory, out := runMultimem(t, e, m, data, b.Addr(), b)
		old, operand := data[:multimemBytes], data[multimemBytes:]
		size := multimemSize(m)
		switch op := m.Opcode().Mods[0]; {
		case op == "ld_reduce" && (!slices.Equal(memory, old) || !slices.Equal(out[:size], old[:size])):
			t.Errorf("%s changes memory, or loads %x of %x", m.Opcode().Text, out[:size], old[:size])
		case op == "st" && !slices.Equal(memory[:size], operand[:size]):
			t.Errorf("%s stores %x of %x", m.Opcode().Text, memory[:size], operand[:size])
		case op == "red" && m.Mod("op") == "xor" && memory[0] != old[0]^operand[0]:
			t.Errorf("%s makes %x of %x and %x", m.Opcode().Text, memory[0], old[0], operand[0])
		}
	}
}

const (
	multimemThreads = 64
	multimemBytes   = 16 * multimemThreads // each thread has 16 bytes
)

// multimemVariants returns the variants that sm_90 has, and one order and scope of those that have any.
func multimemVariants() (ms []isa.Match) {
	for _, f := range isa.Forms("multimem") {
		for m := range f.Variants() {
			ordered := m.Mod("sem") != "" && m.Mod("sem")+m.Mod("scope") != "relaxedsys"
			if m.RunsOn(ptx.Version{Major: 8, Minor: 2}, ptx.SM90) && m.Mod("ss") != "" && !ordered {
				ms = append(ms, m)
			}
		}
	}
	return ms
}

// multimemVector returns the number of the elements of an access, and their bits.
func multimemVector(m isa.Match) (n, bits int) {
	n = 1
	fmt.Sscanf(m.Mod("vec"), "v%d", &n)
	t := ptx.ParseType(m.Mod("type"))
	return n, t.Bits()
}

// multimemSize returns the bytes of an access.
func multimemSize(m isa.Match) int {
	n, bits := multimemVector(m)
	return n * bits / 8
}

// multimemText returns a kernel in which each thread accesses its 16 bytes at mem. It reads the operand
// at in and writes what it loads to out.
func multimemText(m isa.Match) string {
	n, bits := multimemVector(m)
	var regs []string
	var load, store strings.Builder
	for i := range n {
		r := fmt.Sprintf("v%d", i)
		regs = append(regs, r)
		fmt.Fprintf(&load, "\tld.global.b%d %s, [in+%d];\n", bits, r, i*bits/8)
		fmt.Fprintf(&store, "\tst.global.b%d [out+%d], %s;\n", bits, i*bits/8, r)
	}
	operand := regs[0]
	if m.Mod("vec") != "" {
		operand = "{" + strings.Join(regs, ", ") + "}"
	}
	inst := fmt.Sprintf("\t%s [mem], %s;\n", m.Opcode().Text, operand)
	if m.Has("ld_reduce") {
		inst = fmt.Sprintf("\t%s %s, [mem];\n", m.Opcode().Text, operand)
	}
	return fmt.Sprintf(`.version 8.2
.target sm_90
.address_size 64
.visible .entry k(.param .u64 pmem, .param .u64 pin, .param .u64 pout)
{
	.reg .b64 mem, in, out, off; .reg .b32 tid; .reg .b%d v<8>;
	ld.param.u64 mem, [pmem];
	ld.param.u64 in, [pin];
	ld.param.u64 out, [pout];
	mov.u32 tid, %%tid.x;
	mul.wide.u32 off, tid, 16;
	add.u64 mem, mem, off;
	add.u64 in, in, off;
	add.u64 out, out, off;
`, bits) + load.String() + inst + store.String() + "\tret;\n}\n"
}

// multimemInputs returns the contents of the memory and the operands: halves near one, and any bits.
func multimemInputs(r *rand.Rand) (data []byte) {
	for i := range multimemBytes {
		half := uint16(r.IntN(2)<<15 | (0x3c00 + r.IntN(0x800)))
		if i%16 >= 8 { // any bits in threads with odd numbers
			half = uint16(r.Uint32())
		}
		data = binary.LittleEndian.AppendUint16(data, half)
	}
	return data
}

// runMultimem runs the kernel of a variant on memory at an address, which has the contents of b, and
// returns the contents after it and what the threads load.
func runMultimem(t *testing.T, d device.Device, m isa.Match, data []byte, addr uint64, b device.Buffer) (memory, loaded []byte) {
	t.Helper()
	mod, err := d.Load("k.ptx", multimemText(m))
	must(t, err)
	defer mod.Close()
	k, err := mod.Kernel("k")
	must(t, err)
	in, err := d.Alloc(multimemBytes)
	must(t, err)
	defer in.Free()
	out, err := d.Alloc(multimemBytes)
	must(t, err)
	defer out.Free()
	must(t, b.Write(0, data[:multimemBytes]))
	must(t, in.Write(0, data[multimemBytes:]))
	must(t, out.Write(0, make([]byte, multimemBytes)))
	must(t, k.Launch(t.Context(), device.Launch{
		Grid: device.D(1), Block: device.D(multimemThreads), Params: []device.Param{device.U64(addr), device.Ptr(in), device.Ptr(out)},
	}))
	memory, loaded = make([]byte, multimemBytes), make([]byte, multimemBytes)
	must(t, b.Read(0, memory))
	must(t, out.Read(0, loaded))
	return memory, loaded
}

// newMulticast returns the address of multicast memory with one copy, on the GPU, and that copy as a
// buffer. The memory lives as long as the process.
func newMulticast(d *Device) (addr uint64, alias device.Buffer, err error) {
	type location struct{ kind, id int32 }
	type multicastProp struct {
		devices    uint32
		size, _, _ uint64 // also the types of handles, and flags
	}
	type memoryProp struct {
		kind, _ int32 // also the types of handles
		at      location
		_       [2]uint64 // metadata of handles, and flags
	}
	type access struct {
		at    location
		flags int32
	}
	handle, err := dlopen()
	if err != nil {
		return 0, nil, err
	}
	var (
		granularity func(size *uint64, prop *multicastProp, option int32) result
		create      func(h *uint64, prop *multicastProp) result
		addDevice   func(h uint64, dev int32) result
		memCreate   func(h *uint64, size uint64, prop *memoryProp, flags uint64) result
		bind        func(mc, at, mem, memAt, size, flags uint64) result
		reserve     func(p *uint64, size, align, addr, flags uint64) result
		place       func(p, size, at, h, flags uint64) result
		allow       func(p, size uint64, desc *access, n uint64) result
	)
	for name, fn := range map[string]any{
		"cuMulticastGetGranularity": &granularity, "cuMulticastCreate": &create, "cuMulticastAddDevice": &addDevice, "cuMulticastBindMem": &bind,
		"cuMemCreate": &memCreate, "cuMemAddressReserve": &reserve, "cuMemMap": &place, "cuMemSetAccess": &allow,
	} {
		at, err := purego.Dlsym(handle, name)
		if err != nil {
			return 0, nil, err
		}
		purego.RegisterFunc(fn, at)
	}
	on := location{1, 0} // GPU 0
	prop := multicastProp{devices: 1, size: multimemBytes}
	var size, group, memory, own uint64
	rights := access{on, 3} // read and write
	steps := []struct {
		name string
		do   func() result
	}{
		{"cuMulticastGetGranularity", func() result { return granularity(&size, &prop, 0) }},
		{"cuMulticastCreate", func() result { prop.size = size; return create(&group, &prop) }},
		{"cuMulticastAddDevice", func() result { return addDevice(group, 0) }},
		{"cuMemCreate", func() result { return memCreate(&memory, size, &memoryProp{kind: 1, at: on}, 0) }},
		{"cuMulticastBindMem", func() result { return bind(group, 0, memory, 0, size, 0) }},
		{"cuMemAddressReserve", func() result { return reserve(&addr, size, size, 0, 0) }},
		{"cuMemMap", func() result { return place(addr, size, 0, group, 0) }},
		{"cuMemSetAccess", func() result { return allow(addr, size, &rights, 1) }},
		{"cuMemAddressReserve", func() result { return reserve(&own, size, size, 0, 0) }},
		{"cuMemMap", func() result { return place(own, size, 0, memory, 0) }},
		{"cuMemSetAccess", func() result { return allow(own, size, &rights, 1) }},
	}
	for _, s := range steps {
		if err := d.call(s.name, s.do); err != nil {
			return 0, nil, err
		}
	}
	return addr, &buffer{p: d.primary, addr: own, size: multimemBytes}, nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
