package profile

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/ncu"
	"github.com/GOATnote-Inc/attest/internal/predict"
	"github.com/GOATnote-Inc/attest/internal/predict/machine"
	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/internal/term"
)

// Stall is a state of warps with its share of their time in per cent, as predicted and as Nsight Compute measured it.
type Stall struct {
	State     string   `json:"state"`
	Predicted float64  `json:"predicted"`
	Measured  *float64 `json:"measured"` // null without ncu
	Names     []string `json:"ncu"`      // the states of ncu that it stands for
}

// states pairs the reasons of the simulator with the states of ncu. Some reasons share a row, because ncu does not tell
// them apart: results of special functions and of shared memory have the same kind of scoreboard and the same queue.
var states = []struct {
	name      string
	predicted []string
	measured  []string
}{
	{"issues", names(machine.Issue), []string{"selected"}},
	{"another warp issues", []string{predict.NotSelected}, []string{"not_selected"}},
	{"dependence", names(machine.Dependence), []string{"wait"}},
	{"unit or register port busy", names(machine.UnitBusy), []string{"math_pipe_throttle", "dispatch_stall"}},
	{"special functions, shared memory", names(machine.Special, machine.SharedWait), []string{"short_scoreboard", "mio_throttle"}},
	{"tensor cores", names(machine.Products), []string{"gmma", "warpgroup_arrive"}},
	{"memory", names(machine.MemoryWait), []string{"long_scoreboard", "lg_throttle", "tex_throttle", "drain"}},
	{"barrier", names(machine.Barrier), []string{"barrier", "membar", "sleeping"}},
	{"instruction fetch", names(machine.Fetch), []string{"no_instruction", "no_instructions", "branch_resolve", "branch_resolving", "imc_miss"}},
}

func names(list ...machine.Reason) (s []string) {
	for _, r := range list {
		s = append(s, r.String())
	}
	return s
}

// stalls pairs predicted and measured shares. What ncu measured and no row knows is a row of its own.
func stalls(p *predict.Profile, n *ncu.Profile) (list []Stall) {
	known := map[string]bool{}
	for _, s := range states {
		one := Stall{State: s.name, Names: s.measured}
		for _, share := range p.Warps {
			if slices.Contains(s.predicted, share.Reason) {
				one.Predicted += 100 * share.Share
			}
		}
		if n != nil {
			sum := 0.0
			for _, name := range s.measured {
				known[name] = true
				sum += n.Stalls[name]
			}
			one.Measured = &sum
		}
		list = append(list, one)
	}
	if n == nil {
		return list
	}
	for _, name := range sorted.Keys(n.Stalls) {
		if v := n.Stalls[name]; !known[name] {
			list = append(list, Stall{State: strings.ReplaceAll(name, "_", " "), Measured: &v, Names: []string{name}})
		}
	}
	return list
}

// writeStalls shows where the time of warps goes, predicted and measured side by side.
func writeStalls(w io.Writer, style term.Style, list []Stall) {
	t := term.Table{Indent: "  ", Right: "lrr", Style: style}
	t.Head("warps", "predicted", "measured")
	for _, s := range list {
		if s.Predicted >= 100*smallest || *s.Measured >= 100*smallest {
			t.Row(term.Clean(s.State), fmt.Sprintf("%.0f %%", s.Predicted), fmt.Sprintf("%.0f %%", *s.Measured))
		}
	}
	fmt.Fprintln(w)
	t.WriteTo(w)
}
