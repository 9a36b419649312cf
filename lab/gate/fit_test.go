package gate

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/resources"
	"github.com/GOATnote-Inc/attest/record"
)

// TestBlockThatDoesNotFit wants a block that no SM can hold to be noticed: 21 warps get the registers of 24, and
// 24·32·96 are more than an SM has. An estimate makes the gate unsure, and a measured number makes it red.
func TestBlockThatDoesNotFit(t *testing.T) {
	for _, c := range []struct {
		registers int
		source    resources.Source
		want      record.Status
	}{{96, resources.Estimate, record.Skipped}, {96, resources.Ptxas, record.Red}, {80, resources.Ptxas, record.Green}} {
		r := &record.Record{Kernel: record.Kernel{Target: "sm_89"}, Resources: &record.Resources{
			Budget: BudgetFor("sm_89"), Threads: 21 * 32,
			Usage: []resources.Usage{{Target: "sm_89", Registers: resources.Figure{Value: c.registers, Source: c.source}}},
		}}
		g := resourcesGate.judge(&judgement{r: r})
		if text := g.Summary + strings.Join(g.Reasons, ""); g.Status != c.want || (c.want != record.Green) != strings.Contains(text, "does not fit on an SM") {
			t.Errorf("%d registers (%s): %s, %s", c.registers, c.source, g.Status, text)
		}
	}
}
