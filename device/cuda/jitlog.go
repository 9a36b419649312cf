package cuda

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx"
)

// jitLine matches a line of the compiler's log:
//
//	ptxas application ptx input, line 9; error   : Unknown symbol 'x'
//	ptxas fatal   : Ptx assembly aborted due to errors
//	ptxas error   : Entry function 'k' uses too much shared data
var jitLine = regexp.MustCompile(`^(?:ptxas )?(?:.*?, line (\d+); )?\s*(error|warning|fatal|info)\s*:\s*(.*)$`)

// findings returns the errors and warnings of a log, with their places in the module and,
// from .loc, in the source.
func findings(m *ptx.Module, log string) (found []finding.Finding) {
	for line := range strings.Lines(log) {
		p := jitLine.FindStringSubmatch(strings.TrimRight(line, "\r\n "))
		if p == nil || p[2] == "info" {
			continue
		}
		f := finding.Finding{
			Kind: finding.Compile, Severity: finding.Severity(p[2]), Message: p[3], Count: 1, Place: finding.At(ptx.Pos{}),
		}
		if n, err := strconv.Atoi(p[1]); err == nil {
			f.Pos = ptx.Pos{Line: int32(n)}
			locate(m, &f)
		}
		if f.Severity == "fatal" {
			if len(found) > 0 { // this line only says that there were errors
				continue
			}
			f.Severity = finding.Error
		}
		found = append(found, f)
	}
	return found
}

// locate sets the column and the source line of a finding, from the instruction that starts
// or continues on its line.
func locate(m *ptx.Module, f *finding.Finding) {
	for _, fn := range m.Funcs() {
		var at *ptx.Loc
		var inst *ptx.Inst
		var instAt *ptx.Loc
		for _, s := range fn.Body {
			switch s := s.(type) {
			case *ptx.Loc:
				at = s
			case *ptx.Inst:
				if s.Pos.Line <= f.Pos.Line {
					inst, instAt = s, at
				}
			}
		}
		if inst == nil {
			continue
		}
		if inst.Pos.Line == f.Pos.Line {
			f.Pos.Col = inst.Pos.Col
		}
		if instAt != nil {
			f.Source = fmt.Sprintf("%s:%d:%d", m.FileName(instAt.File), instAt.Line, instAt.Col)
		} else {
			f.Source = ""
		}
	}
}
