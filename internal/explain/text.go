package explain

import (
	"fmt"
	"io"

	"github.com/GOATnote-Inc/attest/internal/term"
)

// WriteText prints the changes as a numbered list.
func (r *Result) WriteText(w io.Writer, style term.Style) {
	p := r.Predicted
	fmt.Fprintf(w, "%s for %s: %s µs, most likely between %s and %s; simulated, not measured\n\n",
		style.Yellow("PREDICTED"), p.Chip, term.Micros(p.Micros), term.Micros(p.Low), term.Micros(p.High))
	for _, note := range p.Notes {
		fmt.Fprintf(w, "caution: %s\n\n", note)
	}
	if len(r.Changes) == 0 {
		fmt.Fprintf(w, "none of %d simulated changes saves %.1f %% of the time; the busiest unit (%v) alone takes %s µs\n",
			r.Tried, 100*Least, p.Limit, term.Micros(p.Floor))
		return
	}
	fmt.Fprintf(w, "the best of %d simulated changes, each on its own:\n", r.Tried)
	for i, c := range r.Changes {
		most := ""
		if c.Bound {
			most = "at most "
		}
		fmt.Fprintf(w, "\n%2d. %s\n    %s%s µs less (%.0f %%): %s µs  %s\n", i+1, term.Clean(c.What), most, term.Micros(c.Gain), 100*c.Share, term.Micros(c.Micros), style.Dim(c.Kind))
	}
}
