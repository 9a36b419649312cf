package campaign

import (
	"bytes"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/recordtest"
	"github.com/GOATnote-Inc/attest/internal/resources"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/timing"
)

// TestOtherChips judges stage3a against stage2, which is not in the evidence: the resources of
// the baseline come from its PTX, and the verdict names the chips on which it may not hold.
func TestOtherChips(t *testing.T) {
	mission := problem.Square(1, 8, 512, 64)
	preset := func(name string) *lab.Subject {
		s, err := lab.Preset(name, problem.Attention{Shape: mission, Format: problem.U8}, kernel.Chip{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s, baseline := preset("stage3a"), preset("stage2")
	r := recordtest.New("stage3a")
	recordtest.OnGPU(r)
	r.Build.Device.Name, r.Build.Device.Target = "NVIDIA H200", ptx.SM90a
	b := baseline.Describe()
	r.Baseline = &b
	recordtest.Timed(r, mission, timing.Method{Mode: timing.Graph, Cache: timing.Warm}, 11.2, 11, nil)
	var err error
	if r.Resources, err = lab.ResourcesOf(t.Context(), s, mission, []ptx.Target{ptx.SM89, ptx.SM90}, resources.Asked{}); err != nil {
		t.Fatal(err)
	}
	result := &GateResult{Kernel: r.Kernel, Baseline: "stage2", Verdict: &record.Verdict{Outcome: record.ValidNegative}, record: r}
	g := &Gate{}
	if result.OtherChips, err = g.otherChips(t.Context(), result, baseline, nil); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	result.Show(&cli.Env{Out: &out, Color: term.Never}, false)
	if want := "\n  other chips           measured on H200, where an SM holds 4 blocks of it or 4 of stage2; on L4, L40S and RTX-4090 an SM holds 2 or 1, so this verdict may not hold there\n"; !strings.Contains(out.String(), want) {
		t.Errorf("no %q in\n%s", want, &out)
	}
	r.Performance = nil
	if text, err := g.otherChips(t.Context(), result, baseline, nil); err != nil || text != "" {
		t.Errorf("%q, %v without times", text, err)
	}
}
