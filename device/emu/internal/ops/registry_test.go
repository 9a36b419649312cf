package ops

import (
	"maps"
	"slices"
	"testing"

	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// unclassified returns the opcodes that are not in the instruction table, or that have no
// unit or no memory role there.
func unclassified(opcodes []string) (list []string) {
	for _, op := range opcodes {
		known := len(isa.Forms(op)) > 0
		for _, f := range isa.Forms(op) {
			for m := range f.Variants() {
				c := m.Class()
				known = known && c.Unit != isa.UnitUnknown && c.Role != isa.RoleUnknown
				break
			}
		}
		if !known {
			list = append(list, op)
		}
	}
	return list
}

// TestExecutedOpcodesHaveAClass checks that the instruction table classifies all opcodes
// that the emulator executes.
func TestExecutedOpcodesHaveAClass(t *testing.T) {
	executed := slices.Collect(maps.Keys(builders))
	executed = slices.AppendSeq(executed, maps.Keys(controllers))
	slices.Sort(executed)
	if len(executed) < 80 {
		t.Errorf("only %d opcodes are registered", len(executed))
	}
	for _, op := range unclassified(executed) {
		t.Errorf("the emulator executes %s, which the instruction table does not classify", op)
	}
	if got := unclassified([]string{"add", "frobnicate"}); !slices.Equal(got, []string{"frobnicate"}) {
		t.Errorf("unclassified returns %q for add and an unknown opcode", got)
	}
}
