package cuda_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/ptx"
)

// contractionText returns a kernel for a type. Modifiers on MUL, ADD, SUB and so on follow from the
// words; plain says that MUL, ADD and SUB have no rounding modifier.
func contractionText(t ptx.Type, body string, plain bool) string {
	reg, rn := map[int]string{16: "b16", 32: "b32", 64: "b64"}[t.Bits()], ".rn"
	if t == ptx.F32 || t == ptx.F64 {
		reg = t.String()
	}
	if plain {
		rn = ""
	}
	typ := "." + t.String()
	body = strings.NewReplacer("MULFTZ", "mul"+rn+".ftz"+typ, "ADDFTZ", "add"+rn+".ftz"+typ, "ADDSAT", "add"+rn+".sat"+typ, "FMASAT", "fma.rn.sat"+typ,
		"MULRN", "mul.rn"+typ, "ADDRN", "add.rn"+typ, "MUL", "mul"+rn+typ, "ADD", "add"+rn+typ, "SUB", "sub"+rn+typ,
		"FMA", "fma.rn"+typ, "NEG", "neg"+typ, "ABS", "abs"+typ, "mov.N", "mov."+reg, "@W", "@q", "@!W", "@!q").Replace(body)
	n := t.Bytes()
	return fmt.Sprintf(`.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
	.reg .%[1]s a, b, c, e, m, n, r, s; .reg .pred p, q; .reg .b32 tid, i; .reg .b64 from, to;
	ld.param.u64 from, [in]; ld.param.u64 to, [out];
	mov.u32 tid, %%tid.x;
	and.b32 i, tid, 1; setp.eq.u32 q, i, 0;
	mad.wide.u32 from, tid, %[2]d, from; mad.wide.u32 to, tid, %[3]d, to;
	ld.global.%[1]s a, [from]; ld.global.%[1]s b, [from+%[4]d]; ld.global.%[1]s c, [from+%[5]d]; ld.global.%[1]s e, [from+%[6]d];
	mov.%[1]s r, e; mov.%[1]s s, e;
	%[7]s
	st.global.%[1]s [to], r; st.global.%[1]s [to+%[4]d], s;
	ret;
}
`, reg, 4*n, 2*n, n, 2*n, 3*n, body)
}

const contractionThreads = 256

// contractionInput returns numbers near 1 of a type, so that the rounding of a product matters.
func contractionInput(t ptx.Type) []byte {
	rng := rand.New(rand.NewPCG(3, uint64(t)))
	one := map[ptx.Type]uint64{
		ptx.F32: 0x3f800000, ptx.F64: 0x3ff0000000000000, ptx.F16: 0x3c00, ptx.BF16: 0x3f80, ptx.F16x2: 0x3c003c00, ptx.BF16x2: 0x3f803f80,
	}[t]
	mantissa := map[ptx.Type]uint64{
		ptx.F32: 0x807fffff, ptx.F64: 0x800fffffffffffff, ptx.F16: 0x83ff, ptx.BF16: 0x807f, ptx.F16x2: 0x83ff83ff, ptx.BF16x2: 0x807f807f,
	}[t]
	var data []byte
	for range 4 * contractionThreads {
		v := one | rng.Uint64()&mantissa
		for i := range t.Bytes() {
			data = append(data, byte(v>>(8*i)))
		}
	}
	return data
}

// runContraction returns what a kernel of contractionText stores.
func runContraction(t *testing.T, d device.Device, typ ptx.Type, text string) []byte {
	t.Helper()
	m, err := d.Load("probe.ptx", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	defer m.Close()
	k, err := m.Kernel("k")
	check(t, err)
	in, err := d.Alloc(int64(4 * contractionThreads * typ.Bytes()))
	check(t, err)
	defer in.Free()
	out, err := d.Alloc(int64(2 * contractionThreads * typ.Bytes()))
	check(t, err)
	defer out.Free()
	check(t, in.Write(0, contractionInput(typ)))
	check(t, k.Launch(context.Background(), device.Launch{Grid: device.D(1), Block: device.D(contractionThreads), Params: []device.Param{device.Ptr(in), device.Ptr(out)}}))
	data := make([]byte, out.Size())
	check(t, out.Read(0, data))
	return data
}

// contractionOutcome says how a device executes a probe: as written, or fused in one of the ways of
// the probe.
func contractionOutcome(t *testing.T, d device.Device, typ ptx.Type, p contractionProbe) string {
	t.Helper()
	got := runContraction(t, d, typ, contractionText(typ, p.body, true))
	if bytes.Equal(got, runContraction(t, d, typ, contractionText(typ, p.body, false))) {
		return "written"
	}
	for i, f := range p.fused {
		if bytes.Equal(got, runContraction(t, d, typ, contractionText(typ, f, false))) {
			return fmt.Sprintf("fused %d", i+1)
		}
	}
	return "other"
}

// TestCardContraction measures which sequences of mul and add the assembler of the driver fuses, and
// compares them with the rule of the emulator. The log is a table for DEVIATIONS.md, D3.
func TestCardContraction(t *testing.T) {
	d := gpu(t)
	e, err := emu.New(ptx.SM90, emu.Options{})
	check(t, err)
	probes, hits := 0, 0
	for _, p := range contractionProbes {
		for _, typ := range p.typesOf() {
			card, rule := contractionOutcome(t, d, typ, p), contractionOutcome(t, e, typ, p)
			probes++
			if card == rule {
				hits++
			} else {
				t.Errorf("%s, %s: the GPU computes it %s, the rule of the emulator says %s", p.name, typ, card, rule)
			}
			t.Logf("%-36s %-7s GPU: %-8s rule: %s", p.name, typ, card, rule)
		}
	}
	t.Logf("the rule is right for %d of %d probes", hits, probes)
}

// TestContractionProbes checks on the emulator that each probe can tell all ways of execution apart,
// that the default is what was measured on a GPU, and that the text is executed as written on request.
func TestContractionProbes(t *testing.T) {
	e, err := emu.New(ptx.SM90, emu.Options{})
	check(t, err)
	w, err := emu.New(ptx.SM90, emu.Options{FMA: emu.FMAWritten})
	check(t, err)
	for i, p := range contractionProbes {
		types := p.typesOf()
		if i >= 4 { // the types differ only in the instructions
			types = []ptx.Type{types[0], types[len(types)-1]}
		}
		for _, typ := range types {
			seen := map[string]string{"written": string(runContraction(t, e, typ, contractionText(typ, p.body, false)))}
			for i, f := range p.fused {
				seen[fmt.Sprintf("fused %d", i+1)] = string(runContraction(t, e, typ, contractionText(typ, f, false)))
			}
			for a := range seen {
				for b := range seen {
					if a < b && seen[a] == seen[b] {
						t.Errorf("%s, %s: the probe gives the same bits %s and %s", p.name, typ, a, b)
					}
				}
			}
			if got := contractionOutcome(t, e, typ, p); got != p.measured(typ) {
				t.Errorf("%s, %s: the emulator computes it %s, an H200 %s", p.name, typ, got, p.measured(typ))
			}
			if got := contractionOutcome(t, w, typ, p); got != "written" {
				t.Errorf("%s, %s: as written, the emulator computes it %s", p.name, typ, got)
			}
		}
	}
}
