package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
)

// Severity says how bad a finding is.
type Severity uint8

// The severities.
const (
	Error   Severity = iota // an assembler refuses it, or it cannot work
	Warning                 // legal, and very likely a mistake
)

func (s Severity) String() string {
	if s == Error {
		return "error"
	}
	return "warning"
}

// Diag is one finding.
type Diag struct {
	Pos      ptx.Pos // in the PTX text; zero for a module built in Go
	Severity Severity
	Kind     string // short and stable: "type-mismatch", "missing-label"
	Func     string // the function it is in, or ""
	Msg      string
	Source   string // "file.go:12:3" from .file and .loc, or ""
}

// Format is the finding as one line. The position in the PTX text leads; a
// module built in Go has none, so there the position of its source does.
func (d Diag) Format(file string) string {
	var b strings.Builder
	switch {
	case d.Pos.IsValid():
		b.WriteString(file + ":" + position(d.Pos))
	case d.Source != "":
		b.WriteString(d.Source)
	default:
		b.WriteString(file)
	}
	b.WriteString(": " + d.Severity.String() + ": " + d.Msg)
	if d.Pos.IsValid() && d.Source != "" {
		b.WriteString(" (" + d.Source + ")")
	}
	return b.String()
}

func position(p ptx.Pos) string {
	return strconv.Itoa(int(p.Line)) + ":" + strconv.Itoa(int(p.Col))
}

// sortDiags orders findings by position; those without one keep their order.
func sortDiags(ds []Diag) {
	slices.SortStableFunc(ds, func(a, b Diag) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col))
	})
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
