package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/term"
)

// WriteNote writes a note for a terminal.
func WriteNote(w io.Writer, n evidence.Remark, style term.Style) {
	fmt.Fprintf(w, "%s %s UTC\n", style.Bold("note "+short(n.Hash)), day(n.Time))
	t := term.Table{Indent: "  "}
	for _, p := range n.Parts() {
		t.Row(p[0], strings.Join(strings.Fields(term.Clean(p[1])), " "))
	}
	t.WriteTo(w)
}
