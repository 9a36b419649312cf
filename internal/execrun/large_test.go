package execrun

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/findingtext"
	"github.com/GOATnote-Inc/attest/internal/ptxstat"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// TestManyFunctions: a module with many functions, each of which calls the one before it, and a report with
// many findings take about a second. With quadratic time they take much longer than the limit.
func TestManyFunctions(t *testing.T) {
	const n = 8000
	var b strings.Builder
	b.WriteString(".version 8.0\n.target sm_90\n.address_size 64\n.func f0 { ret; }\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, ".func f%d { call f%d; ret; }\n", i, i-1)
	}
	fmt.Fprintf(&b, ".visible .entry k()\n{\n.reg .pred p;\nsetp.ne.u32 p, 1, 1;\n@p call f%d;\nret;\n}\n", n-1)
	start := time.Now()
	m, err := parse.Parse("k.ptx", b.String())
	if err != nil {
		t.Fatal(err)
	}
	ptxstat.Of(m)
	dev, err := emu.New(ptx.SM90, emu.Options{Observer: check.New()})
	if err != nil {
		t.Fatal(err)
	}
	mod, err := dev.Load("k.ptx", b.String())
	if err != nil {
		t.Fatal(err)
	}
	k, err := mod.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Launch(t.Context(), device.Launch{Grid: device.D(1), Block: device.D(1)}); err != nil {
		t.Fatal(err)
	}
	found := make([]finding.Finding, 2*n)
	for i := range found {
		found[i] = finding.Finding{Kind: check.GlobalRace, Place: finding.Place{Pos: ptx.Pos{Line: 1, Col: int32(i + 1)}}, Other: &finding.Place{Pos: ptx.Pos{Line: 2, Col: 1}}}
	}
	findingtext.NewPrinter(io.Discard, term.Style{}, "k.ptx", "").Print(found)
	if took := time.Since(start); took > 8*time.Second {
		t.Errorf("it takes %v", took)
	}
}
