package lab

import (
	"fmt"
	"slices"

	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/ptx"
)

// unwaited returns a finding for each dependent launch that uses memory that an earlier launch writes, and whose entry
// has no griddepcontrol.wait. The emulator runs launches one after the other, so the checkers do not see this race.
func unwaited(s *Subject, m *ptx.Module) (list []finding.Finding) {
	written := map[string]bool{}
	for i, l := range s.Launches {
		f := m.Func(l.Entry)
		if name := sharedWith(&l, written); l.Dependent && i > 0 && f != nil && name != "" && !waits(f) {
			list = append(list, finding.Finding{
				Kind: check.GlobalRace, Severity: finding.Error, Place: finding.At(f.Pos), Count: 1,
				Message: fmt.Sprintf("%s uses %s, which an earlier launch writes, and does not wait for the end of that launch", l.Entry, name),
				Why:     "a dependent launch may start while the launch before it still runs",
				Fix:     "execute griddepcontrol.wait before the first access",
			})
		}
		for _, name := range operandsOf(&l) {
			if o := s.Operand(name); o != nil && o.Role.Writable() {
				written[name] = true
			}
		}
	}
	return list
}

// operandsOf returns the names of the operands that a launch gets.
func operandsOf(l *kernel.Launch) (names []string) {
	for _, a := range l.Args {
		switch {
		case a.Map != nil:
			names = append(names, a.Map.Operand)
		case a.Pointer != "":
			names = append(names, a.Pointer)
		}
	}
	return names
}

// sharedWith returns the first operand of a launch that earlier launches write, or "".
func sharedWith(l *kernel.Launch, written map[string]bool) string {
	names := operandsOf(l)
	if i := slices.IndexFunc(names, func(n string) bool { return written[n] }); i >= 0 {
		return names[i]
	}
	return ""
}

// waits reports whether a function has a griddepcontrol.wait.
func waits(f *ptx.Func) bool {
	return slices.ContainsFunc(f.Body, func(st ptx.Stmt) bool {
		in, ok := st.(*ptx.Inst)
		return ok && in.Op.Name == "griddepcontrol" && slices.Contains(in.Op.Mods, "wait")
	})
}
