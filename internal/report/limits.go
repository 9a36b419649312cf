package report

import (
	"fmt"
	"html/template"

	"github.com/GOATnote-Inc/attest/record"
)

// limitsSection compares resources with their budgets, and rates with the roofs of the
// devices.
var limitsSection = section{
	id: "limits", title: "Limits",
	body: `<div class="figures wide">
<figure class="card">
<figcaption>Resources against budgets</figcaption>
<div class="budgets"><span></span><span class="mute">registers</span><span class="mute">shared memory</span><span class="mute">spills</span>
{{- range .Kernels}}
<span class="rung">{{.Label}}</span>{{with .Now.Resources}}{{range bars .}}<span class="bar1">{{.Chart}}<small>{{.Value}}</small></span>{{end}}{{else}}<span class="mute">not known</span><span></span><span></span>{{end}}
{{- end}}
</div>
<p class="note">The stroke is the budget. Each bar shows the largest value over all targets.</p>
</figure>
{{range .Rooflines}}{{template "figure" .}}{{end}}
</div>`,
}

// Bar is the use of one resource beside its budget.
type Bar struct {
	Name, Value, Limit string
	Chart              template.HTML
}

// Bars returns the use of each resource of a kernel.
func Bars(r *record.Resources) (bars []Bar) {
	u := usage(r)
	add := func(name, value, limit string, have, most int) {
		share := 0.0
		if most > 0 {
			share = float64(have) / float64(most)
		} else if have > 0 {
			share = 2
		}
		s := strip(12, fmt.Sprintf("%s %s of %s", name, value, limit))
		class := "fill"
		if share > 1 {
			class = "fill over"
		}
		// The budget is at two thirds of the width, so that a bar can go beyond it.
		fmt.Fprintf(s, `<rect class="rail" x="0" y="3" width="100%%" height="6" rx="3"/><rect class="%s" x="0" y="3" width="%s%%" height="6" rx="3"/>`, class, num2(min(100, 66.67*share)))
		s.WriteString(percentLine("limit", 66.67, 0, 12))
		bars = append(bars, Bar{name, value, limit, s.done()})
	}
	add("registers", figure(u.registers), fmt.Sprint(r.Budget.Registers), u.registers.Value, r.Budget.Registers)
	add("shared", kib(u.shared), kib(r.Budget.Shared), u.shared, r.Budget.Shared)
	spills := none
	if u.spills.Known() {
		spills = kib(u.spills.Value)
	}
	add("spills", spills, kib(r.Budget.Spills), u.spills.Value, r.Budget.Spills)
	return bars
}
