package report

import (
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/record"
)

// dummySection shows that a section is one file and one line in the list of sections.
var dummySection = section{
	id: "dummy", title: "Dummy",
	show: func(p *Page) bool { return len(p.Kernels) == 1 },
	body: `<p>{{count (len .Kernels) "kernel"}}: {{range .Kernels}}{{.Label}}{{end}}</p>{{template "table" .Overview}}`,
}

func TestSectionIsOneFile(t *testing.T) {
	list := sections
	t.Cleanup(func() { sections = list })
	sections = append([]section{dummySection}, sections...) // the line in the list

	page := func(names ...string) string {
		c := &evidence.Contents{Check: &evidence.Check{}}
		for _, name := range names {
			r := &record.Record{Kernel: record.Kernel{Name: name}, Build: record.Build{Time: time.Unix(0, 0)}}
			c.Items = append(c.Items, &evidence.Item{Hash: name, Record: r})
		}
		var b strings.Builder
		if err := New(c).WriteHTML(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	text := page("k")
	for _, want := range []string{`<a href="#dummy">Dummy</a>`, `<section id="dummy">`, "<h2>Dummy</h2>", "<p>1 kernel: k</p>"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if text := page("k", "l"); strings.Contains(text, "dummy") {
		t.Error("a section that is not to be shown is shown")
	}
}
