package check_test

import (
	"context"
	"flag"
	"io"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/difffuzz"
	"github.com/GOATnote-Inc/attest/ptx"
)

var randomKernels = flag.Int("random-kernels", 70, "how many random kernels are to raise no alarm")

// TestRandomKernels: random kernels that have no races and no undefined reads by construction have
// no findings.
func TestRandomKernels(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, and long")
	}
	targets := []ptx.Target{ptx.SM80, ptx.SM89, ptx.SM90a}
	for seed := range uint64(*randomKernels) {
		o := difffuzz.Options{Target: targets[seed%3], Version: ptx.Version{Major: 8, Minor: 7}}
		k := difffuzz.Generate(seed, o)
		c := check.New()
		dev, err := emu.New(o.Target, emu.Options{Output: io.Discard, Observer: c, GuardShared: true, KeepGoing: true, Schedule: seed % 5})
		if err != nil {
			t.Fatal(err)
		}
		b := difffuzz.NewBatch([]*difffuzz.Kernel{k})
		if _, err := (&difffuzz.Local{Device: dev}).Run(context.Background(), b); err != nil {
			t.Fatal(err)
		}
		for _, d := range c.Findings() {
			if d.Severity == finding.Error {
				t.Errorf("seed %d: %s\n%s", seed, d.String(), strings.Split(b.Text, "\n")[d.Pos.Line-1])
			}
		}
	}
}
