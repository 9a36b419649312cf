package cuda_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/internal/isatest"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// TestCardVideo runs every variant of the video instructions on the GPU and on the emulator, with
// several selectors and signs. Both must give the same bits. GPUs since Maxwell have no such
// instructions, so this compares the translation by the assembler of the driver.
func TestCardVideo(t *testing.T) {
	d := gpu(t)
	e, err := emu.New(ptx.SM90a, emu.Options{})
	check(t, err)
	if !d.Info().Target.Runs(ptx.SM90) {
		t.Skipf("%s is not sm_90", d.Info().Name)
	}
	wrong, count := 0, 0
	for _, k := range videoKernels() {
		data := videoInputs(rand.New(rand.NewPCG(1, uint64(count))))
		text := k.text()
		got, want := runProduct(t, e, "k", text, data, len(k)), runProduct(t, d, "k", text, data, len(k))
		count += len(k)
		for i, inst := range k {
			if bad := inst.differences(i, len(k), data, got, want); bad != "" {
				wrong++
				t.Error(bad)
			}
		}
	}
	t.Logf("%d of %d instructions have the same bits on the GPU and on the emulator, each on %d triples of operands", count-wrong, count, videoThreads)
}

// TestVideoTexts checks that the kernels of TestCardVideo contain every video instruction, that the
// emulator runs them, and that ptxas assembles them if it is installed.
func TestVideoTexts(t *testing.T) {
	e, err := emu.New(ptx.SM90a, emu.Options{})
	check(t, err)
	assembler, err := isatest.Find()
	if err != nil {
		t.Log(err)
	}
	seen := map[string]bool{}
	for i, k := range videoKernels() {
		for _, inst := range k {
			seen[inst.opcode] = true
		}
		if i%40 != 0 {
			continue
		}
		data := videoInputs(rand.New(rand.NewPCG(1, 2)))
		out := runProduct(t, e, "k", k.text(), data, len(k))
		other := slices.Clone(out)
		other[4*(3*len(k)+1)] ^= 1 // thread 3, instruction 1
		for i, inst := range k {
			if bad := inst.differences(i, len(k), data, out, other); (bad != "") != (i == 1) {
				t.Errorf("a change of instruction 1: instruction %d: %q", i, bad)
			}
		}
		if assembler != nil {
			m, err := parse.Parse("k.ptx", k.text())
			check(t, err)
			if err := assembler.Assemble(m); err != nil {
				t.Error(err)
			}
		}
	}
	for _, f := range videoForms() {
		for m := range f.Variants() {
			if !seen[m.Opcode().Text] {
				t.Errorf("no kernel contains %s", m.Opcode().Text)
			}
		}
	}
}

func videoForms() []*isa.Form {
	i := slices.IndexFunc(isa.Families, func(f *isa.Family) bool { return f.Name == "video" })
	return isa.Families[i].Forms
}

// videoInst is an instruction whose operands are d, a, b and c.
type videoInst struct{ opcode, text string }

// videoKernel is a list of instructions that share a kernel.
type videoKernel []videoInst

const (
	videoSamples   = 8  // instructions for each variant
	videoPerKernel = 32 // instructions of a kernel
	videoThreads   = blocks * 128
)

// videoKernels returns kernels with all variants, with random selectors and signs.
func videoKernels() (ks []videoKernel) {
	r := rand.New(rand.NewPCG(41, 41))
	var all videoKernel
	for _, f := range videoForms() {
		for m := range f.Variants() {
			for n := range videoSamples {
				all = append(all, videoInst{m.Opcode().Text, videoText(r, m, n)})
			}
		}
	}
	for part := range slices.Chunk(all, videoPerKernel) {
		ks = append(ks, part)
	}
	return ks
}

// videoText returns sample n of a variant. Sample 0 has no selectors and signs that it may leave out.
func videoText(r *rand.Rand, m isa.Match, n int) string {
	// PTX negates either the product of vmad or its c.
	negated := []string{"", "a", "b", "c", "a b"}[r.IntN(5)]
	var args []string
	for i := range m.Form.Params {
		p := &m.Form.Params[i]
		arg := p.Name
		if p.SelectMust || n > 0 && r.IntN(4) > 0 {
			arg += videoSelector(r, p.Select)
		}
		if p.Minus && n > 0 && strings.Contains(negated, p.Name) {
			arg = "-" + arg
		}
		args = append(args, arg)
	}
	return m.Opcode().Text + " " + strings.Join(args, ", ") + ";"
}

// videoSelector returns a random selector of a kind, or "" for the kind of operands without one.
func videoSelector(r *rand.Rand, kind string) string {
	pick := func(digits, parts int) (s string) {
		for range digits {
			s += fmt.Sprint(r.IntN(parts))
		}
		return s
	}
	mask := func(parts int) (s string) {
		bits := 1 + r.IntN(1<<parts-1)
		for i := parts - 1; i >= 0; i-- {
			if bits>>i&1 == 1 {
				s += fmt.Sprint(i)
			}
		}
		return s
	}
	switch kind {
	case "part":
		return []string{".b0", ".b1", ".b2", ".b3", ".h0", ".h1"}[r.IntN(6)]
	case "mask2":
		return ".h" + mask(2)
	case "mask4":
		return ".b" + mask(4)
	case "pick2":
		return ".h" + pick(2, 4)
	case "pick4":
		return ".b" + pick(4, 8)
	}
	return ""
}

// text returns the kernel: each thread reads a, b and c and writes the results of all instructions.
func (k videoKernel) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 pin, .param .u64 pout)
{
	.reg .b64 in, out, off; .reg .b32 thread, tid, block, a, b, c, d;
	ld.param.u64 in, [pin];
	ld.param.u64 out, [pout];
	mov.u32 tid, %%tid.x;
	mov.u32 block, %%ctaid.x;
	mad.lo.u32 thread, block, 128, tid;
	mul.wide.u32 off, thread, 12;
	add.u64 in, in, off;
	mul.wide.u32 off, thread, %d;
	add.u64 out, out, off;
	ld.global.b32 a, [in];
	ld.global.b32 b, [in+4];
	ld.global.b32 c, [in+8];
`, 4*len(k))
	for i, inst := range k {
		fmt.Fprintf(&b, "\t%s\n\tst.global.b32 [out+%d], d;\n", inst.text, 4*i)
	}
	return b.String() + "\tret;\n}\n"
}

// videoInputs returns the operands of all threads: random words, words of bytes and halves at the ends
// of their ranges, and small numbers, which are counts of shifts, too.
func videoInputs(r *rand.Rand) (data []byte) {
	bytes := []uint32{0, 1, 2, 0x7e, 0x7f, 0x80, 0x81, 0xfe, 0xff}
	halves := []uint32{0, 1, 0x7fff, 0x8000, 0x8001, 0xffff, 0x00ff, 0xff00}
	word := func() (w uint32) {
		switch r.IntN(4) {
		case 0:
			return r.Uint32()
		case 1:
			for range 4 {
				w = w<<8 | bytes[r.IntN(len(bytes))]
			}
			return w
		case 2:
			return halves[r.IntN(len(halves))]<<16 | halves[r.IntN(len(halves))]
		}
		return uint32(r.IntN(80) - 8)
	}
	for range videoThreads {
		a, b, c := word(), word(), word()
		if r.IntN(8) == 0 {
			b = a // comparisons need equal operands
		}
		for _, w := range []uint32{a, b, c} {
			data = binary.LittleEndian.AppendUint32(data, w)
		}
	}
	return data
}

// differences describes how the results of instruction i of n differ between the emulator and the GPU,
// or returns "".
func (v videoInst) differences(i, n int, data, got, want []byte) string {
	var b strings.Builder
	bad := 0
	for thread := range videoThreads {
		at := 4 * (thread*n + i)
		x, y := binary.LittleEndian.Uint32(got[at:]), binary.LittleEndian.Uint32(want[at:])
		if x == y {
			continue
		}
		if bad++; bad <= 3 {
			in := data[12*thread:]
			fmt.Fprintf(&b, "\n\ta %08x, b %08x, c %08x: emulator %08x, GPU %08x",
				binary.LittleEndian.Uint32(in), binary.LittleEndian.Uint32(in[4:]), binary.LittleEndian.Uint32(in[8:]), x, y)
		}
	}
	if bad == 0 {
		return ""
	}
	return fmt.Sprintf("%s differs on %d of %d triples%s", v.text, bad, videoThreads, b.String())
}
