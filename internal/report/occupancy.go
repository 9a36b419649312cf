package report

import (
	"fmt"
	"strconv"

	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/occupancy"
	"github.com/GOATnote-Inc/attest/internal/resources"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
)

// occupancySection shows how many blocks of each kernel fit on an SM of every known chip.
var occupancySection = section{
	id: "occupancy", title: "Blocks per SM",
	show: func(p *Page) bool { return len(p.Occupancies().Rows) > 0 },
	body: `{{template "table" .Occupancies}}
<p class="note">Computed from registers, shared memory with the driver's 1 KiB per block, and threads; in brackets, what another block would lack. The original effort allowed a block 48 KB of shared memory; the budget here is larger.
A verdict belongs to the chip that it was measured on.{{with .Elsewhere}} Some may not hold on other chips:{{end}}</p>
{{with .Elsewhere}}<ul class="note">{{range .}}<li><b>{{.Kernel}}</b>, {{.Outcome}}: {{.Text}}.</li>{{end}}</ul>{{end}}`,
}

// Occupancies is the table of all kernels of the view.
func (v *View) Occupancies() *Table {
	t := &Table{Head: []string{"kernel"}}
	for _, c := range chips.All {
		t.Head = append(t.Head, c.Name)
	}
	t.Head = append(t.Head, "48 KiB budget")
	for _, k := range v.Kernels {
		row, some := []Cell{text(k.Label)}, false
		for _, c := range chips.All {
			f, ok := fit(k.Now.Resources, c)
			cell := mute(none)
			if ok {
				cell, some = text(fmt.Sprintf("%d (%s)", f.Blocks, f.Limit)), true
			}
			row = append(row, cell)
		}
		if some {
			t.Rows = append(t.Rows, append(row, originalBudget(k.Now.Resources)))
		}
	}
	return t
}

// originalBudget compares the shared memory of a block with 48 KiB: the most that a block
// can use without opting in to more.
func originalBudget(r *record.Resources) Cell {
	const budget = 48 << 10
	if n := usage(r).shared; n > budget {
		return text(fmt.Sprintf("%s over", kib(n-budget)))
	}
	return text("fits")
}

// ChipFit is how many blocks of a kernel an SM of a chip holds.
type ChipFit struct {
	Chip      string  `json:"chip"`
	Blocks    int     `json:"blocks_per_sm"`
	Warps     float64 `json:"warps"`     // share of the SM's warps that are in use
	Limit     string  `json:"limit"`     // what another block would lack
	Registers int     `json:"registers"` // per thread
	Shared    int     `json:"shared"`    // bytes per block, static and dynamic
	By        string  `json:"by"`        // the source of the registers: ptxas, jit or estimate
}

// Fits returns how many blocks of a kernel fit on an SM of each known chip that the kernel
// runs on.
func Fits(r *record.Resources) (list []ChipFit) {
	for _, c := range chips.All {
		if f, ok := fit(r, c); ok {
			u := usageOn(r, c.Target)
			list = append(list, ChipFit{c.Name, f.Blocks, f.Warps, f.Limit, u.Registers.Value, u.Shared.Value + r.Dynamic, string(u.Registers.Source)})
		}
	}
	return list
}

// Occupancy returns the table of one kernel, with one row per chip that the kernel runs on.
func Occupancy(r *record.Resources) *Table {
	t := &Table{Head: []string{"chip", "blocks per SM", "warps in use", "limited by", "registers", "shared"}, Right: "lrrlrr"}
	for _, f := range Fits(r) {
		registers := figure(resources.Figure{Value: f.Registers, Source: resources.Source(f.By)})
		t.Rows = append(t.Rows, []Cell{
			text(f.Chip), text(strconv.Itoa(f.Blocks)), text(fmt.Sprintf("%.0f %%", 100*f.Warps)), text(f.Limit), text(registers), text(kib(f.Shared)),
		})
	}
	return t
}

// fit returns how many blocks of a kernel an SM of a chip holds. ok is false when the kernel
// does not run there or its resources are not known.
func fit(r *record.Resources, c chips.Chip) (f occupancy.Fit, ok bool) {
	sm, ok := occupancy.Of(c.Target)
	if !ok || r == nil {
		return f, false
	}
	b := occupancy.Block{Threads: threads(r)}
	u := usageOn(r, c.Target)
	if u == nil || b.Threads == 0 || !u.Registers.Known() {
		return f, false
	}
	b.Registers, b.Shared = u.Registers.Value, u.Shared.Value+r.Dynamic
	return sm.Fit(b), true
}

// usageOn returns what a kernel uses on an architecture, or nil.
func usageOn(r *record.Resources, t ptx.Target) *resources.Usage {
	for i := range r.Usage {
		if on, err := ptx.ParseTarget(r.Usage[i].Target); err == nil && on.SM == t.SM {
			return &r.Usage[i]
		}
	}
	return nil
}

// threads returns the number of threads of a block. Older records have it only where the driver
// reported how many warps fit.
func threads(r *record.Resources) int {
	if o := r.Occupancy; r.Threads == 0 && o != nil && o.BlocksPerSM > 0 {
		return 32 * o.Warps / o.BlocksPerSM
	}
	return r.Threads
}
