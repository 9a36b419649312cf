package verify

import (
	"fmt"
	"strings"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Invalid is the error of a module that NVIDIA's assembler refuses.
type Invalid struct {
	File     string
	Findings []finding.Finding // all errors, in the order of the text
}

// Valid returns an *Invalid if NVIDIA's assembler refuses the module, else nil. file names the
// module in the error. Valid skips the analyses of Check that lead only to warnings. It ignores
// reads of registers that nothing has written, because the assembler accepts them.
func Valid(file string, m *ptx.Module) error {
	k := newChecker(m)
	k.errorsOnly = true
	k.module()
	bad := k.found[:0]
	for _, f := range k.found {
		if f.Severity == finding.Error {
			bad = append(bad, f)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	finding.Sort(bad)
	return &Invalid{file, bad}
}

func (e *Invalid) Error() string {
	const most = 10
	var b strings.Builder
	for i := range e.Findings {
		if i == most {
			fmt.Fprintf(&b, "\n%d more errors", len(e.Findings)-most)
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		f := &e.Findings[i]
		fmt.Fprintf(&b, "%s: %s", f.In(e.File), f.Message)
	}
	return b.String()
}
