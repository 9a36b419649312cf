package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/sorted"
)

// earlierSection shows the records that are not of the current run, one heading per machine.
var earlierSection = section{
	id: "earlier", title: "Earlier records",
	show: func(p *Page) bool { return len(p.Earlier) > 0 },
	body: `{{range .Earlier}}
<h3>{{.Machine}}, {{.Dates}}</h3>
<p class="badges">{{range .Outcomes}}<span class="count">{{.N}} {{template "cell" outcome .Outcome}}</span>{{end}}</p>
{{template "table" .Overview}}
{{range .Shapes}}<details><summary>Times: {{.Title}}</summary>{{template "table" .Table}}</details>
{{end}}{{end}}`,
}

// Group is the records of one machine.
type Group struct {
	*View
	Machine string
}

// groups arranges records by machine, the machine with the newest record first.
func groups(items []*evidence.Item, check *evidence.Check) (list []*Group) {
	byMachine := map[string][]*evidence.Item{}
	for _, item := range items {
		name := machine(item)
		byMachine[name] = append(byMachine[name], item)
	}
	for name, items := range byMachine {
		list = append(list, &Group{newView(&evidence.Contents{Items: items, Check: check}, false), name})
	}
	sorted.By(list, func(a, b *Group) int {
		return cmp.Or(b.Latest().Compare(a.Latest()), strings.Compare(a.Machine, b.Machine))
	})
	return list
}

// Dates returns when the records were made.
func (g *Group) Dates() string { return dates(g.Items) }

// Overview returns the overview without links: the page has no details of these kernels.
func (g *Group) Overview() *Table {
	t := g.View.Overview()
	for _, row := range t.Rows {
		for i := range row {
			if row[i].Class == "name" {
				row[i].Link = ""
			}
		}
	}
	return t
}

// machine names where a record was made. Kernels run on the emulator of their own target, so
// all emulators are one machine.
func machine(item *evidence.Item) string {
	if item.Build.Emulated() {
		return "the emulator"
	}
	return item.Build.Device.Name
}

// machines returns the names of the machines of records, each once.
func machines(items []*evidence.Item) (names []string) {
	for _, item := range items {
		if name := machine(item); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// dates returns the days of the first and the last record.
func dates(items []*evidence.Item) string {
	var first, last string
	for _, item := range items {
		date := item.Build.Time.UTC().Format("2006-01-02")
		if first == "" || date < first {
			first = date
		}
		last = max(last, date)
	}
	if first == last {
		return first
	}
	return first + " to " + last
}
