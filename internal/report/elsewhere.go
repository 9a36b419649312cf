package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/occupancy"
	"github.com/GOATnote-Inc/attest/record"
)

// Elsewhere is a verdict that may not hold on other chips, and why.
type Elsewhere struct {
	Kernel  string
	Outcome record.Outcome
	Text    string
}

// elsewhereTitle is the title of the list of these verdicts.
const elsewhereTitle = "Verdicts that may not hold on other chips"

// Elsewhere returns the verdicts that may not hold on chips other than the measured one.
func (v *View) Elsewhere() (list []Elsewhere) {
	for _, k := range v.Kernels {
		if text := v.elsewhere(k.Now); text != "" {
			list = append(list, Elsewhere{k.Label, k.Outcome(), text})
		}
	}
	return list
}

// ElsewhereOf returns the sentence for a kernel of the view, or "".
func (v *View) ElsewhereOf(k *Kernel) string { return v.elsewhere(k.Now) }

// elsewhere returns the sentence for the newest verdict on a record, or "". The resources of the
// baseline come from the newest record of the baseline.
func (v *View) elsewhere(item *evidence.Item) string {
	j := item.Verdict()
	if j == nil || item.Baseline == nil {
		return ""
	}
	for _, other := range slices.Backward(v.Items) {
		if other.Resources != nil && other.Kernel.Same(item.Baseline) {
			return OtherChips(item.Record, j.Outcome, other.Resources)
		}
	}
	return ""
}

// OtherChips says in one sentence on which chips a verdict may not hold, "" if there is none. A
// gain may be lost where fewer blocks of the kernel fit on an SM, relative to its baseline,
// than on the measured chip. A kernel that did not pay may pay where more of them fit.
func OtherChips(r *record.Record, o record.Outcome, baseline *record.Resources) string {
	d := r.Build.Device
	if r.Build.Emulated() || r.Baseline == nil || o != record.Merge && o != record.ValidNegative {
		return ""
	}
	here := chips.Chip{Name: strings.TrimPrefix(d.Name, "NVIDIA "), Target: d.Target}
	own, base, ok := fits(r.Resources, baseline, here)
	if !ok {
		return ""
	}
	var parts []string
	for _, g := range groupFits(r.Resources, baseline) {
		// The ratios of blocks, own to base, without a division by 0.
		there, measured := g.own.Blocks*base.Blocks, own.Blocks*g.base.Blocks
		if o == record.Merge && there < measured || o == record.ValidNegative && there > measured {
			parts = append(parts, fmt.Sprintf("on %s an SM holds %d or %d", english.List(g.chips), g.own.Blocks, g.base.Blocks))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("measured on %s, where an SM holds %s of it or %d of %s; %s, so this verdict may not hold there",
		here.Name, english.Count(own.Blocks, "block"), base.Blocks, r.Baseline.Name, strings.Join(parts, ", "))
}

// fits returns how many blocks of a kernel and of its baseline an SM of a chip holds.
func fits(r, baseline *record.Resources, c chips.Chip) (own, base occupancy.Fit, ok bool) {
	own, ok = fit(r, c)
	base, known := fit(baseline, c)
	return own, base, ok && known
}

// chipGroup is the chips on which the same numbers of blocks fit.
type chipGroup struct {
	chips     []string
	own, base occupancy.Fit
}

func groupFits(r, baseline *record.Resources) (groups []chipGroup) {
	for _, c := range chips.All {
		own, base, ok := fits(r, baseline, c)
		if !ok {
			continue
		}
		i := slices.IndexFunc(groups, func(g chipGroup) bool { return g.own.Blocks == own.Blocks && g.base.Blocks == base.Blocks })
		if i < 0 {
			i = len(groups)
			groups = append(groups, chipGroup{own: own, base: base})
		}
		groups[i].chips = append(groups[i].chips, c.Name)
	}
	return groups
}
