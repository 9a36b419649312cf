package profile

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/report"
	"github.com/GOATnote-Inc/attest/internal/resources"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
)

// Fit adds how many blocks of the kernel fit on an SM of each known chip. Registers come from
// ptxas, or are estimated if it is not installed.
func (r *Report) Fit(ctx context.Context) (err error) {
	var targets []ptx.Target
	for _, c := range chips.All {
		if !slices.Contains(targets, c.Target) {
			targets = append(targets, c.Target)
		}
	}
	r.resources, err = lab.ResourcesOf(ctx, r.subject, r.shape.Shape, targets, resources.OnPath())
	if err == nil {
		r.Occupancy = append(r.Occupancy, report.Fits(r.resources)...)
	}
	return err
}

// writeOccupancy shows the blocks per SM on each chip, and what limits them.
func writeOccupancy(w io.Writer, style term.Style, r *record.Resources) {
	if r == nil {
		return
	}
	t := report.Occupancy(r)
	if len(t.Rows) == 0 {
		return
	}
	fmt.Fprintln(w)
	t.WriteText(w, "  ", style)
}
