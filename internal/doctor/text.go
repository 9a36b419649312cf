package doctor

import (
	"fmt"
	"io"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/term"
)

// WriteText writes the report for people.
func (r *Report) WriteText(w io.Writer, style term.Style) {
	t := term.Table{}
	t.Row("emulator", strings.Join(r.Emulator, ", "))
	for _, g := range r.GPUs {
		t.Row(fmt.Sprintf("GPU %d", g.Index), g.describe())
		t.Row("", g.now())
	}
	if len(r.GPUs) == 0 {
		t.Row("GPU", "none: "+term.Clean(r.GPUNote))
	}
	t.WriteTo(w)
	fmt.Fprintln(w)

	t = term.Table{}
	for _, x := range r.Tools {
		t.Row(x.Name, found(x.Path, x.Version, x.Note), term.Clean(x.Path))
	}
	t.Row("python", found(r.Python.Path, r.Python.Version, r.Python.Note), term.Clean(r.Python.Path))
	for _, m := range r.Python.Modules {
		t.Row("  "+m.Name, found(m.Version, m.Version, ""))
	}
	t.WriteTo(w)
	if len(r.Lacks) == 0 {
		return
	}
	fmt.Fprintln(w, "\n"+style.Bold("Missing tools and what you lose without them:"))
	t = term.Table{Indent: "  "}
	for _, l := range r.Lacks {
		t.Row(l.What, l.Cost)
	}
	t.WriteTo(w)
}

// found returns a version, or why there is none.
func found(path, version, note string) string {
	switch {
	case path == "":
		return "-"
	case version != "":
		return term.Clean(version)
	}
	return "? " + term.Clean(note)
}

func (g *GPU) describe() string {
	parts := []string{g.Name, g.Target, fmt.Sprintf("%d SMs", g.SMs), fmt.Sprintf("%.1f GiB", float64(g.Memory)/(1<<30))}
	if g.L2 > 0 {
		parts = append(parts, fmt.Sprintf("%d MiB L2", g.L2>>20))
	}
	if g.Driver != "" {
		parts = append(parts, "driver "+g.Driver)
	}
	return strings.Join(append(parts, g.CUDA), ", ")
}

// now describes the state of the GPU: clock, power, temperature, and why it is slowed.
func (g *GPU) now() string {
	s := g.State
	if s == nil {
		return "state unknown: " + term.Clean(g.StateNote)
	}
	text := fmt.Sprintf("%d of %d MHz, %.0f of %.0f W, %d °C, %s, slowed by: %v", s.SMClock, g.MaxSMClock, s.Power, g.PowerLimit, s.Temperature, s.Performance, s.Throttle.Slowed())
	if s.Processes > 0 {
		text += "; " + english.Count(s.Processes, "process") + " on it"
	}
	return text
}
