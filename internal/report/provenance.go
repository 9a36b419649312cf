package report

import (
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/evidence"
)

// trailSection lists every verdict of the store.
var trailSection = section{
	id: "verdicts", title: "All verdicts",
	body: `<details><summary>{{count .Check.Verdicts "verdict"}}, the newest first</summary>{{template "table" (trail .All.Items)}}</details>`,
}

// provenanceSection lists every record with the machine, the sources and the command.
var provenanceSection = section{
	id: "provenance", title: "Provenance",
	body: `<p class="note">{{chain .Check}}.{{if .Check.OK}} Anyone who notes the head can check later that no entry before it was changed.{{end}}</p>
{{template "table" .All.Provenance}}`,
}

// trailTable returns the verdicts on records, the newest first.
func trailTable(items []*evidence.Item) *Table {
	t := &Table{Head: []string{"date", "kernel", "device", "gates", "verdict", "PTX", "record", "why"}}
	v := View{Items: items}
	for _, x := range v.Trail() {
		t.Rows = append(t.Rows, []Cell{
			text(day(x.Time)), text(x.Item.Kernel.Name), text(x.Item.Build.Device.Name), gatesCell(&x.Judgement), outcome(x.Outcome),
			{Text: short(x.Item.Kernel.SHA256), Class: "hash"}, source(x.Item), {Text: x.Why, Class: "why"},
		})
	}
	return t
}

// Provenance returns the origin of each record, the newest first.
func (v *View) Provenance() *Table {
	t := &Table{Head: []string{"record", "kernel", "date", "device", "driver", "attest", "sources", "Go", "ptxas", "PTX", "command"}}
	for _, item := range slices.Backward(v.Items) {
		b := item.Build
		git := b.Git.Commit
		if len(git) > 10 {
			git = git[:10]
		}
		if b.Git.Dirty {
			git += " + changes"
		}
		t.Rows = append(t.Rows, []Cell{
			{Text: short(item.Hash), Class: "hash anchor", Link: "r-" + short(item.Hash)}, text(item.Kernel.Name), text(day(b.Time)), text(b.Device.Name),
			text(orNone(b.Driver)), text(orNone(b.Attest)), text(orNone(git)), text(orNone(strings.TrimSpace(b.Go + " " + b.OS))), text(orNone(b.Ptxas)),
			{Text: short(item.Kernel.SHA256), Class: "hash"}, {Text: orNone(strings.Join(b.Command, " ")), Class: "why"},
		})
	}
	return t
}
