package listing

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/GOATnote-Inc/attest/device/emu/count"
	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/internal/term"
)

// Counters writes the counters of a launch on one screen.
func Counters(w io.Writer, s term.Style, c *count.Counts) {
	fmt.Fprintf(w, "%s\n", s.Bold(term.Clean(c.Kernel)))
	t := term.Table{Indent: "  "}
	t.Row("instructions", fmt.Sprintf("%s of warps, %s of threads; %.1f of 32 lanes on average", term.Group(c.WarpInstructions), term.Group(c.ThreadInstructions), c.ActiveLanes))
	t.Row("branches", fmt.Sprintf("%s, %s divergent%s", term.Group(c.Branches.Executed), term.Group(c.Branches.Divergent), share(c.Branches.Divergent, c.Branches.Executed)))
	t.Row("shared memory", sharedText(&c.Shared))
	t.Row("global memory", globalText(&c.Global))
	for i, b := range c.Barriers[:min(len(c.Barriers), top)] {
		t.Row(once(i, "barriers"), barrierText(&b))
	}
	for i, p := range c.Tensor[:min(len(c.Tensor), top)] {
		t.Row(once(i, "tensor cores"), fmt.Sprintf("%s × %s → %s: %s operations in %s instructions", p.A, p.B, p.D, term.Group(p.Operations), term.Group(p.Warps)))
	}
	if len(c.Special) > 0 {
		t.Row("special functions", specialText(c.Special))
	}
	t.WriteTo(w)
	fmt.Fprintln(w)
	mix(w, s, c)
	bytes(w, s, c.Bytes)
	conflicts(w, s, c.Lines)
	sectors(w, s, c.Lines)
}

// top is how many lines each table shows. The listing has all of them.
const top = 5

// once returns a name for the first line of a group of rows, and "" for the others.
func once(i int, name string) string {
	if i == 0 {
		return name
	}
	return ""
}

func sharedText(u *count.SharedUse) string {
	if u.Requests == 0 {
		return "not used"
	}
	return fmt.Sprintf("%s requests, %s wavefronts, %s of them bank conflicts", term.Group(u.Requests), term.Group(u.Wavefronts), term.Group(u.Conflicts))
}

func globalText(u *count.GlobalUse) string {
	used, ok := u.Efficiency()
	if !ok {
		return "not used"
	}
	return fmt.Sprintf("%s requests, %s sectors (%s per request), %.1f %% of their bytes used",
		term.Group(u.Requests), term.Group(u.Sectors), perRequest(u), 100*used)
}

func perRequest(u *count.GlobalUse) string {
	return fmt.Sprintf("%.1f", float64(u.Sectors)/float64(u.Requests))
}

func barrierText(b *count.Barrier) string {
	text := fmt.Sprintf("line %d, %s: %s arrivals of warps, %s of threads", b.Line, b.Instruction, term.Group(b.Arrivals), term.Group(b.Threads))
	if b.Vain > 0 {
		text += fmt.Sprintf(", %s in vain", term.Group(b.Vain))
	}
	return text
}

func specialText(list []count.Mix) string {
	var parts []string
	for _, m := range list {
		parts = append(parts, term.Group(m.Threads)+" "+m.Name)
	}
	return strings.Join(parts, ", ") + " of threads"
}

// mix writes the families and the opcodes of the instructions side by side.
func mix(w io.Writer, s term.Style, c *count.Counts) {
	t := term.Table{Indent: "  ", Right: "lrr lrr", Style: s}
	t.Head("family", "warps", "share", " ", "opcode", "warps", "share")
	const most = 10
	for i := range min(max(len(c.Families), len(c.Opcodes)), most) {
		row := []any{"", "", "", ""}
		if i < len(c.Families) {
			row = []any{c.Families[i].Name, term.Group(c.Families[i].Warps), percent(c.Families[i].Warps, c.WarpInstructions), ""}
		}
		if i < len(c.Opcodes) {
			row = append(row, c.Opcodes[i].Name, term.Group(c.Opcodes[i].Warps), percent(c.Opcodes[i].Warps, c.WarpInstructions))
		}
		t.Row(row...)
	}
	t.WriteTo(w)
}

func bytes(w io.Writer, s term.Style, list []count.Bytes) {
	if len(list) == 0 {
		return
	}
	t := term.Table{Indent: "  ", Right: "lllr", Style: s}
	t.Head("memory", "direction", "by", "bytes")
	for _, b := range list {
		t.Row(b.Space, b.Direction, b.By, term.Group(b.Bytes))
	}
	fmt.Fprintln(w)
	t.WriteTo(w)
}

// conflicts lists the lines with the most bank conflicts.
func conflicts(w io.Writer, s term.Style, all []count.Line) {
	lines := worst(all, func(l *count.Line) uint64 { return l.Shared.Conflicts })
	if len(lines) == 0 {
		return
	}
	t := term.Table{Indent: "  ", Right: "rlrrr", Style: s}
	t.Head("line", "bank conflicts", "requests", "wavefronts", "conflicts")
	for _, l := range lines {
		t.Row(l.Line, l.Instruction, term.Group(l.Shared.Requests), term.Group(l.Shared.Wavefronts), term.Group(l.Shared.Conflicts))
	}
	fmt.Fprintln(w)
	t.WriteTo(w)
}

// sectors lists the lines that move the most bytes that no thread asked for.
func sectors(w io.Writer, s term.Style, all []count.Line) {
	lines := worst(all, func(l *count.Line) uint64 { return l.Global.BytesMoved() - l.Global.BytesUsed })
	if len(lines) == 0 {
		return
	}
	t := term.Table{Indent: "  ", Right: "rlrrr", Style: s}
	t.Head("line", "wasted bytes", "requests", "sectors per request", "used")
	for _, l := range lines {
		t.Row(l.Line, l.Instruction, term.Group(l.Global.Requests), perRequest(&l.Global), percent(l.Global.BytesUsed, l.Global.BytesMoved()))
	}
	fmt.Fprintln(w)
	t.WriteTo(w)
}

// worst returns the lines with a cost above 0, the highest first, at most top of them.
func worst(all []count.Line, cost func(*count.Line) uint64) (lines []count.Line) {
	for _, l := range all {
		if cost(&l) > 0 {
			lines = append(lines, l)
		}
	}
	sorted.By(lines, func(a, b count.Line) int { return cmp.Compare(cost(&b), cost(&a)) })
	return lines[:min(len(lines), top)]
}

func percent(n, of uint64) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(max(of, 1))) }

func share(n, of uint64) string {
	if of == 0 {
		return ""
	}
	return " (" + percent(n, of) + ")"
}
