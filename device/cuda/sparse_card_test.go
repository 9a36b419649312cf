package cuda_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/internal/isatest"
	"github.com/GOATnote-Inc/attest/numeric/tensor/layout"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// TestCardSparse runs every type of mma.sp and wgmma.mma_async.sp on the GPU and on the emulator.
// Both must give the same bits.
func TestCardSparse(t *testing.T) {
	d := gpu(t)
	e, err := emu.New(ptx.SM90a, emu.Options{})
	check(t, err)
	if !d.Info().Target.Runs(ptx.SM90a) {
		t.Skipf("%s is not sm_90a", d.Info().Name)
	}
	for _, p := range sparseProducts() {
		t.Run(p.name, func(t *testing.T) {
			styles := []string{"bits", "near", "tiny", "wide", "few"}
			if p.types[0] == "s32" {
				styles = styles[:1]
			}
			for _, style := range styles {
				data := p.inputs(style)
				got, want := runProduct(t, e, "k", p.text, data, p.words), runProduct(t, d, "k", p.text, data, p.words)
				compareWords(t, style, got, want, func(word int) string { return p.explain(data, word) })
			}
		})
	}
}

// TestSparseTexts checks that the emulator runs the kernels of TestCardSparse.
func TestSparseTexts(t *testing.T) {
	e, err := emu.New(ptx.SM90a, emu.Options{})
	check(t, err)
	for _, p := range sparseProducts() {
		m, err := e.Load(p.name+".ptx", p.text)
		if err != nil {
			t.Errorf("%s: %v", p.name, err)
			continue
		}
		check(t, m.Close())
		if strings.Contains(p.name, "m16n8k32.row.col.f32.f16") || strings.Contains(p.name, "n8k64.f32.e4m3.e4m3") {
			runProduct(t, e, "k", p.text, p.inputs("near"), p.words)
		}
	}
}

// sparseProduct is a kernel k that multiplies once with a sparse first factor. Each block reads tile
// words for shared memory. Each thread reads the words of its operands a, b and c in this order, then
// its metadata, and writes the words of d.
type sparseProduct struct {
	name, text string
	types      []string // the types of d, a, b and c
	shape      layout.Shape
	tile       int
	a, b       int // words of a and of b in registers
	words      int // words of c and of d
	ordered    bool
	selector   int
}

// sparseProducts returns one kernel for each variant of mma.sp and selector, and kernels for
// wgmma.mma_async.sp with each combination of types and several layouts of B.
func sparseProducts() (ps []*sparseProduct) {
	for _, f := range isa.Forms("mma") {
		if !strings.HasPrefix(f.Syntax, "mma.variant.") || f.Needs.Target.SM >= 100 {
			continue
		}
		for m := range f.Variants() {
			p := newSparse(m)
			for s := range layout.Selectors(p.shape, bitsOf[p.types[1]]) {
				q := *p
				q.selector = s
				q.name += fmt.Sprintf(" selector %d", s)
				q.text = q.mmaText(m)
				ps = append(ps, &q)
			}
		}
	}
	for _, f := range isa.Forms("wgmma") {
		if !strings.HasPrefix(f.Syntax, "wgmma.mma_async.sp.") {
			continue
		}
		for m := range f.Variants() {
			if s := m.Mod("shape"); strings.Contains(s, "n8k") || strings.Contains(s, "n64k") {
				ps = append(ps, sparseGroups(m)...)
			}
		}
	}
	return ps
}

// sparseGroups returns the kernels for one variant of wgmma.mma_async.sp, one per layout of B.
func sparseGroups(m isa.Match) (ps []*sparseProduct) {
	for _, l := range sparseLayouts {
		p := newSparse(m)
		if l.trans && bitsOf[p.types[1]] != 16 || l.swizzle > 0 && p.shape.N != 64 {
			continue
		}
		p.selector = len(ps) % layout.Selectors(p.shape, bitsOf[p.types[1]])
		p.name += fmt.Sprintf(" in registers, B with swizzle %d, trans %v", l.swizzle, l.trans)
		if m.Form.Params[1].Name == "aDesc" {
			p.name = strings.Replace(p.name, "in registers", "in shared memory", 1)
		}
		p.tile = (2048 + 128*p.shape.N) / 4
		p.text = p.wgmmaText(m, l)
		ps = append(ps, p)
	}
	return ps
}

var bitsOf = map[string]int{"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "s4": 4, "u4": 4}

// sparseLayout is a layout of B in shared memory.
type sparseLayout struct {
	swizzle int // bytes, or 0
	trans   bool
}

var sparseLayouts = []sparseLayout{{0, false}, {0, true}, {128, false}, {64, false}, {32, false}, {128, true}}

// desc returns the constant bits of B's descriptor: everything except the address.
func (l sparseLayout) desc(n int) uint64 {
	leading, stride, mode := 0, 8*l.swizzle, map[int]int{0: 0, 128: 1, 64: 2, 32: 3}[l.swizzle]
	switch {
	case l.trans && l.swizzle == 0:
		leading, stride = n/8*128, 128 // the next eight steps and the next eight columns
	case l.trans:
		leading = 4 * stride
	case l.swizzle == 0:
		leading, stride = n/8*128, 128
	default:
		leading = n / 8 * stride // used if a column is longer than the swizzle
	}
	return uint64(leading>>4)<<16 | uint64(stride>>4)<<32 | uint64(mode)<<62
}

// newSparse returns the product of a variant, without a kernel.
func newSparse(m isa.Match) *sparseProduct {
	p := &sparseProduct{name: m.Opcode().Text, ordered: m.Has("sp::ordered_metadata")}
	for _, mod := range m.Opcode().Mods {
		fmt.Sscanf(mod, "m%dn%dk%d", &p.shape.M, &p.shape.N, &p.shape.K)
		if bitsOf[mod] > 0 || mod == "f32" || mod == "s32" {
			p.types = append(p.types, mod)
		}
	}
	for i := range m.Form.Params {
		switch x := &m.Form.Params[i]; x.Name {
		case "a":
			p.a = m.Count(x)
		case "b":
			p.b = m.Count(x)
		case "d":
			p.words = m.Count(x)
		}
	}
	return p
}

const sparseHead = `.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 pin, .param .u64 pout)
{
	.reg .b64 in, out, off, aDesc, bDesc; .reg .b32 thread, tid, block, x, e; .reg .pred yes; .reg .b32 a<4>, b<4>, c<32>;
	ld.param.u64 in, [pin];
	ld.param.u64 out, [pout];
	mov.u32 tid, %tid.x;
	mov.u32 block, %ctaid.x;
	mad.lo.u32 thread, block, 128, tid;
`

// operandsText loads the operands of a thread from in and advances out to its results.
func (p *sparseProduct) operandsText() (load, store string) {
	var b strings.Builder
	at := 0
	next := func(reg string, n int) {
		for i := range n {
			fmt.Fprintf(&b, "\tld.global.b32 %s%d, [in+%d];\n", reg, i, 4*at)
			at++
		}
	}
	next("a", p.a)
	next("b", p.b)
	next("c", p.words)
	fmt.Fprintf(&b, "\tld.global.b32 e, [in+%d];\n\tmul.wide.u32 off, thread, %d;\n\tadd.u64 out, out, off;\n", 4*at, 4*p.words)
	var s strings.Builder
	for i := range p.words {
		fmt.Fprintf(&s, "\tst.global.b32 [out+%d], c%d;\n", 4*i, i)
	}
	return b.String(), s.String() + "\tret;\n}\n"
}

// vector returns a list of registers.
func vector(reg string, n int) string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("%s%d", reg, i))
	}
	return "{" + strings.Join(names, ", ") + "}"
}

func (p *sparseProduct) mmaText(m isa.Match) string {
	load, store := p.operandsText()
	d := vector("c", p.words)
	return sparseHead + fmt.Sprintf("\tmul.wide.u32 off, thread, %d;\n\tadd.u64 in, in, off;\n", 4*p.threadWords()) + load +
		fmt.Sprintf("\t%s %s, %s, %s, %s, e, %d;\n", m.Opcode().Text, d, vector("a", p.a), vector("b", p.b), d, p.selector) + store
}

func (p *sparseProduct) wgmmaText(m isa.Match, l sparseLayout) string {
	load, store := p.operandsText()
	first, tail := vector("a", p.a), ""
	if p.a == 0 {
		first = "aDesc"
	}
	for i := range m.Form.Params {
		switch x := &m.Form.Params[i]; {
		case strings.HasPrefix(x.Name, "immScale"):
			tail += ", 1"
		case x.Name == "immTransB" && l.trans:
			tail += ", 1"
		case strings.HasPrefix(x.Name, "immTrans"):
			tail += ", 0"
		}
	}
	return sparseHead + fmt.Sprintf(`	.shared .align 1024 .b8 tile[%[1]d];
	mul.wide.u32 off, block, %[2]d;
	add.u64 in, in, off;
	mov.u32 x, tid;
fill:
	mul.wide.u32 off, x, 4;
	add.u64 off, in, off;
	ld.global.b32 a0, [off];
	mov.u32 a1, tile;
	mad.lo.u32 a1, x, 4, a1;
	st.shared.b32 [a1], a0;
	add.u32 x, x, 128;
	setp.lt.u32 yes, x, %[3]d;
	@yes bra fill;
	mul.wide.u32 off, tid, %[4]d;
	add.u64 in, in, off;
	add.u64 in, in, %[1]d;
	mov.u32 x, tile;
	shr.u32 x, x, 4;
	cvt.u64.u32 off, x;
	or.b64 aDesc, off, %#[5]x;
	add.u64 off, off, 128;
	or.b64 bDesc, off, %#[6]x;
	fence.proxy.async;
	bar.sync 0;
	setp.eq.u32 yes, 0, 0;
`, 4*p.tile, 4*(p.tile+128*p.threadWords()), p.tile, 4*p.threadWords(), uint64(1024>>4)<<16|uint64(128>>4)<<32, l.desc(p.shape.N)) + load +
		"\twgmma.fence.sync.aligned;\n" +
		fmt.Sprintf("\t%s %s, %s, bDesc, e, %d, yes%s;\n", m.Opcode().Text, vector("c", p.words), first, p.selector, tail) +
		"\twgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;\n" + store
}

// threadWords returns the number of words that a thread reads.
func (p *sparseProduct) threadWords() int { return p.a + p.b + p.words + 1 }

// inputs returns random words of the product's types in one style, and metadata that PTX allows.
func (p *sparseProduct) inputs(style string) (data []byte) {
	r := rand.New(rand.NewPCG(uint64(len(p.name)), uint64(len(style))))
	add := func(kind string, n int) {
		for range n {
			word := r.Uint32()
			switch kind {
			case "f16", "bf16", "e4m3", "e5m2", "f32":
				word = randomWord(r, kind, style)
			case "tf32":
				word = randomWord(r, "f32", style)
			}
			data = binary.LittleEndian.AppendUint32(data, word)
		}
	}
	for range blocks {
		add(p.types[1], min(p.tile, 512)) // a in shared memory has 2048 bytes
		add(p.types[2], max(p.tile-512, 0))
		for range 128 {
			add(p.types[1], p.a)
			add(p.types[2], p.b)
			add(p.types[0], p.words)
			data = binary.LittleEndian.AppendUint32(data, p.metadata(r))
		}
	}
	return data
}

// metadata returns a random word with eight entries.
func (p *sparseProduct) metadata(r *rand.Rand) (word uint32) {
	entries := []uint32{0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110}
	if !p.ordered {
		entries = append(entries, 0b0001, 0b0010, 0b0110, 0b0011, 0b0111, 0b1011)
	}
	if p.types[1] == "tf32" {
		entries = []uint32{0b0100, 0b1110}
	}
	for i := range 8 {
		word |= entries[r.IntN(len(entries))] << (4 * i)
	}
	return word
}

// explain returns the operands that contribute to a word of the result of mma.sp, as hexadecimal
// elements.
func (p *sparseProduct) explain(data []byte, word int) string {
	if p.tile > 0 {
		return ""
	}
	warp, lane, i := word/p.words/32, word/p.words%32, word%p.words
	bits, halves := bitsOf[p.types[1]], 1
	if p.types[0] == "f16" {
		halves = 2
	}
	stored, _, _ := layout.MMA(layout.Shape{M: 16, N: 8, K: p.shape.K / 2}, bits)
	_, b, d := layout.MMA(p.shape, bits)
	at := d.At(lane, i*halves)
	element := func(lane, first, i, bits int) string {
		w := binary.LittleEndian.Uint32(data[4*((warp*32+lane)*p.threadWords()+first+i*bits/32):])
		return fmt.Sprintf("%0*x", bits/4, uint64(w>>(i*bits%32))&(1<<bits-1))
	}
	// list returns the elements of a fragment to which place assigns a place of at least 0, in the
	// order of the places.
	list := func(f layout.Fragment, first, bits int, place func(lane int, q layout.Pos) int) string {
		found := make([]string, max(f.Rows, f.Cols))
		for l := range f.Lanes {
			for i := range f.Elements {
				if n := place(l, f.At(l, i)); n >= 0 {
					found[n] = element(l, first, i, bits)
				}
			}
		}
		return strings.Join(slices.DeleteFunc(found, func(s string) bool { return s == "" }), " ")
	}
	inRow := func(_ int, q layout.Pos) int {
		if q.Row != at.Row {
			return -1
		}
		return q.Col
	}
	return fmt.Sprintf("row %d, column %d: a %s, metadata %s, b %s, c %s", at.Row, at.Col,
		list(stored, 0, bits, inRow),
		list(layout.Metadata(p.shape, bits), p.a+p.b+p.words, 4, func(l int, q layout.Pos) int {
			if !layout.Selected(p.shape, bits, l, p.selector) {
				return -1
			}
			return inRow(l, q)
		}),
		list(b, p.a, bits, func(_ int, q layout.Pos) int {
			if q.Col != at.Col {
				return -1
			}
			return q.Row
		}),
		element(lane, p.a+p.b, i, 32))
}

// named returns the first line of a text that an error names as k.ptx:LINE.
func named(text, msg string) string {
	for _, part := range strings.Split(msg, "k.ptx:")[1:] {
		if n, err := strconv.Atoi(strings.SplitN(part, ":", 2)[0]); err == nil {
			return strings.Split(text, "\n")[n-1]
		}
	}
	return ""
}

// TestCardTable assembles variants of the families that package build has no constructors for, as far
// as sm_90a has them.
func TestCardTable(t *testing.T) {
	d := gpu(t)
	if !d.Info().Target.Runs(ptx.SM90a) {
		t.Skipf("%s is not sm_90a", d.Info().Name)
	}
	version := ptx.Version{Major: 8, Minor: 7}
	for _, fam := range isa.Families {
		for _, f := range fam.Forms {
			var ms []isa.Match
			for m := range f.Variants() {
				if fam.ReadOnly && m.RunsOn(version, ptx.SM90a) && len(ms) < 200 {
					ms = append(ms, m)
				}
			}
			for part := range slices.Chunk(ms, 40) {
				k := isatest.Kernel("k", part)
				k.Version, k.Target = version, ptx.SM90a
				m, err := d.Load("k.ptx", k.String())
				if err != nil && strings.Contains(err.Error(), "NOT_SUPPORTED") {
					// The driver takes some queries of surfaces only of a variable, not of a register.
					refusedAlone(t, d.Load, part, version)
					break
				}
				if err != nil {
					t.Errorf("%s: %.600s\n%s", f.Syntax, err, named(k.String(), err.Error()))
					refusedAlone(t, d.Load, part, version)
					break
				}
				check(t, m.Close())
			}
		}
	}
}

// refusedAlone names the variants that the assembler refuses in a module of their own: some errors
// name no line.
func refusedAlone(t *testing.T, load func(name, text string) (device.Module, error), ms []isa.Match, version ptx.Version) {
	for _, m := range ms {
		k := isatest.Kernel("k", []isa.Match{m})
		k.Version, k.Target = version, ptx.SM90a
		mod, err := load("k.ptx", k.String())
		if err != nil {
			first, _, _ := strings.Cut(err.Error(), "\n")
			t.Logf("%s alone: %s", m.Opcode().Text, first)
			continue
		}
		check(t, mod.Close())
	}
}
