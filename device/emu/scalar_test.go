package emu

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/isatest"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// scalarCase is one or a few instructions. One thread per row of operands executes them.
type scalarCase struct {
	// text contains %d for the result and %a, %b, %c for the operands. %p and %q are
	// predicates.
	text string
	// regs are the widths of the registers of d and of the operands.
	regs [4]int
	rows []row
}

// row holds the operands of a thread and its expected result.
type row struct {
	in   []uint64
	want uint64
}

// in1, in2 and in3 return rows with one, two and three operands.
func in1(a, want uint64) row { return row{[]uint64{a}, want} }

func in2(a, b, want uint64) row { return row{[]uint64{a, b}, want} }

func in3(a, b, c, want uint64) row { return row{[]uint64{a, b, c}, want} }

// kernel returns the case as a kernel: thread i reads record i, which has four words of eight
// bytes, and overwrites the first word with its result.
func (c *scalarCase) kernel() string {
	var b strings.Builder
	b.WriteString("\tmad.wide.u32 %rd1, %r0, 32, %rd0;\n\t.reg .pred %p, %q;\n")
	for i, name := range []string{"%d", "%a", "%b", "%c"} {
		n := c.regs[i]
		if n == 0 {
			continue
		}
		fmt.Fprintf(&b, "\t.reg .b%d %s;\n", n, name)
		if i > 0 {
			fmt.Fprintf(&b, "\tld.global.b%d %s, [%%rd1+%d];\n", n, name, 8*(i-1))
		}
	}
	fmt.Fprintf(&b, "\t%s\n\tst.global.b64 [%%rd1], 0;\n\tst.global.b%d [%%rd1], %%d;", c.text, c.regs[0])
	return kernelText(b.String())
}

func (c *scalarCase) run(t *testing.T) {
	t.Helper()
	var data []byte
	for _, r := range c.rows {
		var rec [4]uint64
		copy(rec[:], r.in)
		for _, v := range rec {
			data = binary.LittleEndian.AppendUint64(data, v)
		}
	}
	got := u64s(runOn(t, deviceFor(t, ptx.SM90a, Options{}), c.kernel(), 1, len(c.rows), data))
	for i, r := range c.rows {
		if got[4*i] != r.want {
			t.Errorf("%s: %#x gives %#x, want %#x", c.text, r.in, got[4*i], r.want)
		}
	}
}

func runCases(t *testing.T, cases []scalarCase) {
	t.Helper()
	for i := range cases {
		t.Run(cases[i].text, cases[i].run)
	}
}

// TestScalarFamilies decodes every variant of the families that compute only on registers.
func TestScalarFamilies(t *testing.T) {
	for _, f := range isa.Families {
		switch f.Name {
		case "integer", "logic", "compare", "float", "half", "approx", "convert":
		default:
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			var ms []isa.Match
			for _, form := range f.Forms {
				for m := range form.Variants() {
					ms = append(ms, m)
				}
			}
			if _, err := deviceFor(t, ptx.SM90a, Options{}).Load(f.Name, isatest.Kernel("k", ms).String()); err != nil {
				t.Error(err)
			}
			t.Logf("%d variants", len(ms))
		})
	}
}

// TestPartialMasks runs instructions with their own loops in some lanes of a warp: the other
// lanes must not change.
func TestPartialMasks(t *testing.T) {
	const lanes = 29 // the last three lanes do not exist
	for _, c := range []struct {
		inst string
		want func(l uint32) uint32
	}{
		{"add.u32 %r2, %r2, %r1", func(l uint32) uint32 { return 7 + l }},
		{"mad.lo.s32 %r2, %r1, %r1, %r2", func(l uint32) uint32 { return 7 + l*l }},
		{"selp.b32 %r2, %r1, %r2, %p2", func(l uint32) uint32 {
			if l < 16 {
				return l
			}
			return 7
		}},
		{"shl.b32 %r2, %r2, %r1", func(l uint32) uint32 { return 7 << l }},
		{"popc.b32 %r2, %r1", func(l uint32) uint32 {
			n := uint32(0)
			for ; l > 0; l &= l - 1 {
				n++
			}
			return n
		}},
		{"{ .reg .pred p; setp.lt.u32 p, %r1, 10; selp.u32 %r2, 1, 0, p; }", func(l uint32) uint32 { return b2u(l < 10) }},
	} {
		body := `
	mov.u32 %r1, %r0;
	mov.u32 %r2, 7;
	and.b32 %r3, %r1, 1;
	setp.eq.u32 %p1, %r3, 1;
	setp.lt.u32 %p2, %r1, 16;
	@!%p1 bra skip;
	` + c.inst + `;
skip:
	mad.wide.u32 %rd1, %r0, 4, %rd0;
	st.global.u32 [%rd1], %r2;`
		body = strings.Replace(body, "; };", "; }", 1)
		got := u32s(runText(t, kernelText(body), 1, lanes, 4*lanes))
		for l, v := range got {
			want := uint32(7)
			if l%2 == 1 {
				want = c.want(uint32(l))
			}
			if v != want {
				t.Errorf("%s: lane %d has %d, want %d", c.inst, l, v, want)
			}
		}
	}
}

// TestGuards runs an instruction with a plain and a negated guard.
func TestGuards(t *testing.T) {
	got := u32s(runText(t, kernelText(`
	mov.u32 %r2, 100;
	setp.ge.u32 %p1, %r0, 20;
	@%p1 sub.u32 %r2, %r2, %r0;
	@!%p1 xor.b32 %r2, %r2, %r0;
	mad.wide.u32 %rd1, %r0, 4, %rd0;
	st.global.u32 [%rd1], %r2;`), 1, 64, 256))
	for l, v := range got {
		want := uint32(100 ^ l)
		if l >= 20 {
			want = uint32(100 - l)
		}
		if v != want {
			t.Errorf("thread %d has %d, want %d", l, v, want)
		}
	}
}

// TestWidths checks that registers whose size differs from the instruction's type are
// refused, except where PTX allows wider registers.
func TestWidths(t *testing.T) {
	d := deviceFor(t, ptx.SM90a, Options{})
	for inst, want := range map[string]string{
		"add.u32 %rd1, %r1, %r2;":                    "%rd1 is .b64; the operand is .u32",
		"add.u64 %rd1, %r1, %rd2;":                   "%r1 is .b32; the operand is .u64",
		"fma.rn.f16 %h1, %h2, %r1, %h3;":             "%r1 is .b32; the operand is .f16",
		"selp.b64 %rd1, %rd2, %r1, %p1;":             "%r1 is .b32; the operand is .b64",
		"set.eq.u32.u32 %h1, %r1, %r2;":              "%h1 is .b16; the operand is .u32",
		"cvt.u32.u64 %rd1, %rd2;":                    "",
		"cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2;": "",
	} {
		_, err := d.Load("w.ptx", kernelText(inst))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", inst, err, want)
		}
	}
}

// b2u returns 1 for true and 0 for false.
func b2u(v bool) uint32 {
	if v {
		return 1
	}
	return 0
}
