package difffuzz

import (
	"bytes"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/parse"
	"github.com/GOATnote-Inc/attest/ptx/verify"
)

var targets = []ptx.Target{ptx.SM80, ptx.SM86, ptx.SM89, ptx.SM90, ptx.SM90a}

// FuzzKernel checks the kernel of any seed: it can be parsed and printed again, the verifier
// finds no error in it, and the emulator gives the same bits under two schedules and with
// more blocks.
func FuzzKernel(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(seed, uint8(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, target uint8) {
		o := latest
		o.Target = targets[int(target)%len(targets)]
		checkKernel(t, Generate(seed, o))
	})
}

func checkKernel(t *testing.T, k *Kernel) {
	t.Helper()
	b := NewBatch([]*Kernel{k})
	m, err := parse.Parse("fuzz.ptx", b.Text)
	if err != nil {
		t.Fatal(err)
	}
	printed := m.String()
	again, err := parse.Parse("again.ptx", printed)
	if err != nil {
		t.Fatal(err)
	}
	if again.String() != printed {
		t.Error("the text changes when it is parsed and printed")
	}
	for _, d := range verify.Check(m) {
		if d.Severity == finding.Error {
			t.Errorf("line %d: %s: %s", d.Pos.Line, strings.Split(b.Text, "\n")[d.Pos.Line-1], d.Message)
		}
	}
	p := &Pair{&Local{Device: emulator(t, k.Target, 0)}, &Local{Device: emulator(t, k.Target, 1+k.Seed), ExtraBlocks: 1}}
	ds, err := p.differ(t.Context(), []*Kernel{k})
	if err != nil {
		t.Fatal(err)
	}
	if ds[0] != nil {
		t.Errorf("seed %d for %s: %v", k.Seed, k.Target, ds[0])
	}
}

// TestSeedReplays checks that a seed always gives the same text and inputs, and that another
// seed gives different ones.
func TestSeedReplays(t *testing.T) {
	a, b, c := NewBatch([]*Kernel{Generate(7, latest)}), NewBatch([]*Kernel{Generate(7, latest)}), NewBatch([]*Kernel{Generate(8, latest)})
	if a.Text != b.Text || !bytes.Equal(a.Jobs[0].In, b.Jobs[0].In) || !bytes.Equal(a.Jobs[0].Mem, b.Jobs[0].Mem) {
		t.Error("the same seed gives two kernels")
	}
	if a.Text == c.Text {
		t.Error("two seeds give one kernel")
	}
}

// TestKernelsDoSomething checks that kernels write their outputs and that the outputs depend
// on the inputs. Otherwise a comparison of outputs would be meaningless.
func TestKernelsDoSomething(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it runs on one goroutine")
	}
	l := &Local{Device: emulator(t, ptx.SM90a, 0)}
	for seed := range uint64(20) {
		k := Generate(seed, latest)
		first := outcome(t, l, k)
		if n, _ := countDiffering(first.Out, bytes.Repeat([]byte{0xff}, len(first.Out))); n*4 < len(first.Out)/8 {
			t.Errorf("seed %d: most of the outputs were not written", seed)
		}
		for r := range k.Inputs {
			for i := range k.Inputs[r] {
				k.Inputs[r][i][0] ^= 1
			}
		}
		if second := outcome(t, l, k); bytes.Equal(first.Out, second.Out) {
			t.Errorf("seed %d: other inputs give the same outputs", seed)
		}
	}
}

func outcome(t *testing.T, l *Local, k *Kernel) Outcome {
	t.Helper()
	outs, err := l.Run(t.Context(), NewBatch([]*Kernel{k}))
	if err != nil || outs[0].Fault != "" {
		t.Fatal(err, outs)
	}
	return outs[0]
}
