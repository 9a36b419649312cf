package report

import (
	"strings"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// overviewSection shows every kernel with its verdict.
var overviewSection = section{
	id: "kernels", title: "Verdicts",
	body: `{{template "table" .Overview}}
<p class="note">One mark per gate, in this order: {{.GateNames}}. <span class="g green">✓</span> green, <span class="g red">✗</span> red, <span class="g void">∅</span> void (the gate could not have failed), <span class="g skipped">·</span> skipped. {{.ErrorsKey}}.</p>`,
}

// Overview returns the kernels with their verdicts, resources and errors.
func (v *View) Overview() *Table {
	t := &Table{
		Head:  []string{"kernel", "format", "verdict", "gates", "registers", "shared", "spills", "cases", "max error", "of plain", "record", "why"},
		Right: "llllrrrrrrll",
	}
	for _, k := range v.Kernels {
		row := []Cell{{Text: k.Label, Below: k.Config, Class: "name", Link: "k-" + anchor(k.Label)}, text(orNone(k.Now.Kernel.Format)), outcome(k.Outcome()), gatesCell(k.Now.Verdict())}
		row = append(row, resourceCells(k.Now.Record.Resources)...)
		row = append(row, text(cases(k.Now.Record)), text(maxError(k.Now.Record, problem.Shape{})), text(ofPlain(k.Now.Record)))
		why := ""
		if j := k.Now.Verdict(); j != nil {
			why = j.Why
		}
		t.Rows = append(t.Rows, append(row, source(k.Now), Cell{Text: why, Class: "why"}))
	}
	return t
}

func resourceCells(r *record.Resources) []Cell {
	if r == nil {
		return []Cell{mute(none), mute(none), mute(none)}
	}
	u := usage(r)
	return []Cell{text(figure(u.registers)), text(kib(u.shared)), text(figure(u.spills))}
}

// marks are the signs for the statuses of a gate.
var marks = map[record.Status]string{record.Green: "✓", record.Red: "✗", record.Void: "∅", record.Skipped: "·"}

// gatesCell returns the gates of a verdict, one mark each.
func gatesCell(j *evidence.Judgement) Cell {
	if j == nil {
		return mute(none)
	}
	c := Cell{Class: "gates", Gates: j.Gates}
	for _, g := range j.Gates {
		mark, ok := marks[g.Status]
		if !ok {
			mark = "?"
		}
		c.Text += mark
	}
	return c
}

// GateNames returns the names of the gates, in their order, of the newest verdict.
func (v *View) GateNames() string {
	trail := v.Trail()
	if len(trail) == 0 {
		return none
	}
	var names []string
	for _, g := range trail[0].Gates {
		names = append(names, string(g.Name))
	}
	return strings.Join(names, ", ")
}

// GatesKey explains the column of gates.
func (v *View) GatesKey() string {
	return "gates: " + v.GateNames() + "; ✓ green, ✗ red, ∅ void (the gate could not have failed), · skipped"
}

// ErrorsKey explains the columns of errors.
func (v *View) ErrorsKey() string {
	return "Max error: against float64 on inputs from N(0,1). Of plain: the worst case's root mean square error over that of a plain computation in the same precision"
}
