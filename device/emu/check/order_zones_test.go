package check

import (
	"context"
	flags "flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx"
)

var zoneKernels = flags.Int("zone-kernels", 150, "how many random kernels zones and cells are compared on")

// TestZones runs random kernels with and without races. The findings with zones must be the same
// as the findings of the cells alone.
func TestZones(t *testing.T) {
	racy := 0
	for seed := range uint64(*zoneKernels) {
		text := zoneKernel(seed)
		want, got := zoneErrors(t, text, seed, true), zoneErrors(t, text, seed, false)
		if len(want) > 0 {
			racy++
		} else if len(got) > 0 {
			t.Fatalf("seed %d: the cells find nothing, the zones %v\n%s", seed, got, text)
		}
		for d := range want {
			if !got[d] {
				t.Fatalf("seed %d: not found with zones: %s; they find %v\n%s", seed, d, got, text)
			}
		}
	}
	if racy < *zoneKernels/10 || racy > *zoneKernels*9/10 {
		t.Errorf("%d of %d kernels race: the test has one half only", racy, *zoneKernels)
	}
}

// zoneErrors returns the kinds and lines of the errors of a kernel, and of the notes: most values
// that these kernels load are never used.
func zoneErrors(t *testing.T, text string, schedule uint64, cellsOnly bool) map[string]bool {
	t.Helper()
	c := New()
	c.cellsOnly = cellsOnly
	dev, err := emu.New(ptx.SM80, emu.Options{Observer: c, Schedule: schedule % 4})
	if err != nil {
		t.Fatal(err)
	}
	m, err := dev.Load("zones.ptx", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	k, err := m.Kernel("zones")
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Launch(context.Background(), device.Launch{Grid: device.D(1), Block: device.D(128)}); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	found := map[string]bool{}
	for _, d := range c.Findings() {
		if d.Severity != finding.Warning {
			found[fmt.Sprintf("%s at line %d", d.Kind, d.Pos.Line)] = true
		}
	}
	return found
}

// zoneKernel is a kernel of four warps that read and write a few hundred words of shared
// memory in the ways that kernels do, with barriers in between, some of them missing.
func zoneKernel(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, "\t"+format+"\n", args...) }
	b.WriteString(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry zones()\n{\n")
	line(".reg .b32 %%t, %%w, %%a, %%v, %%x<4>;")
	line(".reg .pred %%p;")
	line(".shared .align 16 .b8 s[4096];")
	line("mov.u32 %%t, %%tid.x;")
	line("shr.u32 %%w, %%t, 5;")
	line("mov.b32 %%x0, 0; mov.b32 %%x1, 0; mov.b32 %%x2, 0; mov.b32 %%x3, 0;")
	line("shl.b32 %%a, %%t, 5;")
	line("mov.u32 %%x0, s; add.u32 %%a, %%a, %%x0; mov.b32 %%x0, 0;")
	if r.IntN(20) > 0 { // otherwise half of the memory is never written
		line("st.shared.v4.b32 [%%a], {%%x0, %%x1, %%x2, %%x3};")
	}
	line("st.shared.v4.b32 [%%a+16], {%%x0, %%x1, %%x2, %%x3};")
	line("bar.sync 0;")
	for range 4 + r.IntN(12) {
		zoneStep(r, line)
	}
	line("ret;")
	b.WriteString("}\n")
	return b.String()
}

// zoneStep is an access of each thread, or a barrier.
func zoneStep(r *rand.Rand, line func(format string, args ...any)) {
	base := 256 * r.IntN(14)
	switch r.IntN(7) {
	case 0, 1, 2:
		if r.IntN(6) > 0 {
			line("bar.sync 0;")
		} else {
			line("bar.warp.sync 0xffffffff;")
		}
		return
	case 3: // one place for all lanes of a warp
		line("shl.b32 %%a, %%w, 2;")
	case 4: // in a row
		line("shl.b32 %%a, %%t, 2;")
	case 5: // each warp its own part
		line("and.b32 %%a, %%t, 31; shl.b32 %%a, %%a, 2; mad.lo.u32 %%a, %%w, 128, %%a;")
	case 6: // down a column
		line("and.b32 %%a, %%t, 15; mul.lo.u32 %%a, %%a, 36; and.b32 %%a, %%a, 0xfffffff0;")
	}
	line("add.u32 %%a, %%a, %d;", base)
	line("mov.u32 %%x0, s; add.u32 %%a, %%a, %%x0; mov.b32 %%x0, 0;")
	ops := []string{
		"ld.shared.b32 %%x1, [%%a];", "ld.shared.b32 %%x1, [%%a];", "ld.shared.u8 %%x1, [%%a+1];", "ld.shared.u16 %%x1, [%%a+2];",
		"st.shared.b32 [%%a], %%t;", "st.shared.u8 [%%a], %%t;", "atom.shared.add.u32 %%x1, [%%a], 1;", "st.volatile.shared.b32 [%%a], %%t;",
	}
	op := ops[r.IntN(len(ops))]
	if op[:2] == "ld" && r.IntN(6) == 0 { // more reads than a zone can defer
		label := fmt.Sprintf("again%d", r.Uint32())
		line("mov.u32 %%v, 0;")
		line("%s: add.u32 %%v, %%v, 1;", label)
		line("setp.lt.u32 %%p, %%v, %d;", zoneReads/2)
		line(op)
		line("@%%p bra %s;", label)
		return
	}
	if r.IntN(3) == 0 { // by one warp
		line("setp.eq.u32 %%p, %%w, %d;", r.IntN(4))
		op = "@%%p " + op
	}
	line(op)
}

// TestZoneIsFull: a deferred read is not lost if many other reads of its zone follow.
func TestZoneIsFull(t *testing.T) {
	text := fmt.Sprintf(`.version 8.0
.target sm_80
.address_size 64
.visible .entry zones()
{
	.reg .b32 %%t, %%w, %%i, %%v;
	.reg .pred %%p, %%first;
	.shared .align 16 .b8 s[512];
	mov.u32 %%t, %%tid.x;
	shl.b32 %%v, %%t, 2;
	mov.u32 %%w, s;
	add.u32 %%w, %%w, %%v;
	st.shared.b32 [%%w], %%t;
	bar.sync 0;
	setp.lt.u32 %%first, %%t, 32;
	mov.u32 %%i, 0;
	@!%%first bra write;
	ld.shared.b32 %%v, [s];
again:
	ld.shared.b32 %%v, [s+64];
	add.u32 %%i, %%i, 1;
	setp.lt.u32 %%p, %%i, %d;
	@%%p bra again;
	ret;
write:
	setp.ne.u32 %%p, %%t, 96;
	@%%p ret;
	st.shared.b32 [s], %%t;
	ret;
}
`, 3*zoneReads)
	for schedule := range uint64(4) {
		if len(zoneErrors(t, text, schedule, false)) == 0 {
			t.Errorf("schedule %d: the race of the first read with the write is not found", schedule)
		}
	}
}
