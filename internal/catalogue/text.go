package catalogue

import (
	"fmt"
	"io"

	"github.com/GOATnote-Inc/attest/internal/term"
)

// WriteText prints the lists, each below its title if titles is set. width is the number of
// columns of the terminal, or term.Unlimited.
func (c *Catalogue) WriteText(w io.Writer, s term.Style, width int, titles bool) {
	first := true
	section := func(title string, n int, right string, head []string, row func(i int) []any) {
		if n == 0 {
			return
		}
		t := term.Table{Right: right, Width: width, Style: s}
		if titles {
			if !first {
				fmt.Fprintln(w)
			}
			first = false
			fmt.Fprintln(w, s.Bold(title))
			t.Indent = "  "
		}
		t.Head(head...)
		for i := range n {
			t.Row(row(i)...)
		}
		t.WriteTo(w)
	}
	section("kernels", len(c.Kernels), "", []string{"name", "builds on", "idea"}, func(i int) []any {
		k := c.Kernels[i]
		return []any{k.Name, k.Base, k.Idea}
	})
	section("presets", len(c.Presets), "lrrrl", []string{"name", "D", "threads", "shared bytes", "target", "configuration"}, func(i int) []any {
		p := c.Presets[i]
		return []any{p.Name, p.HeadDim, p.Threads, p.Shared, p.Target, p.Config}
	})
	section("toggles", len(c.Toggles), "", []string{"family", "toggle", "values that tune tries", "what it decides"}, func(i int) []any {
		t := c.Toggles[i]
		return []any{t.Family, t.Name, t.Values, t.What}
	})
	section("shapes", len(c.Shapes), "llr", []string{"name", "B,H,S,D", "GFLOP"}, func(i int) []any {
		n := c.Shapes[i]
		return []any{n.Name, n.Shape, fmt.Sprintf("%.4g", n.GFLOP)}
	})
	section("distributions", len(c.Distributions), "", []string{"name", "what it is for"}, func(i int) []any {
		return []any{c.Distributions[i].Name, c.Distributions[i].What}
	})
	section("devices", len(c.Devices), "", []string{"--device", "what it is"}, func(i int) []any {
		return []any{c.Devices[i].Name, c.Devices[i].What}
	})
	section("chips", len(c.Chips), "llrr", []string{"--chip", "target", "SMs", "MHz"}, func(i int) []any {
		p := c.Chips[i]
		return []any{p.Name, p.Target, p.SMs, p.MHz}
	})
}
