package ops

import (
	"maps"
	"slices"
	"testing"

	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// strangers lists the opcodes that the instruction table does not have, or has without a
// unit or a memory role.
func strangers(opcodes []string) (list []string) {
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

// TestExecutedOpcodesHaveAClass names the opcodes that the emulator executes and that the
// instruction table does not classify.
func TestExecutedOpcodesHaveAClass(t *testing.T) {
	executed := slices.Collect(maps.Keys(builders))
	executed = slices.AppendSeq(executed, maps.Keys(controllers))
	slices.Sort(executed)
	if len(executed) < 80 {
		t.Errorf("only %d opcodes are registered", len(executed))
	}
	for _, op := range strangers(executed) {
		t.Errorf("the emulator executes %s, which the instruction table does not classify", op)
	}
	if got := strangers([]string{"add", "frobnicate"}); !slices.Equal(got, []string{"frobnicate"}) {
		t.Errorf("of add and an unknown opcode, the test names %q", got)
	}
}
