package lab

import (
	"testing"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
)

// TestStatedBudget: a kernel that states a budget of shared memory or of registers gets it, and nothing
// else changes. A budget below the default changes nothing.
func TestStatedBudget(t *testing.T) {
	usual := gate.BudgetFor("sm_89")
	for stated, want := range map[int]int{0: usual.Shared, 1000: usual.Shared, 99 << 10: 99 << 10} {
		s := &Subject{Kernel: &kernel.Kernel{Structure: map[string]int{"shared_budget": stated}}, Target: ptx.SM89}
		if got, want := s.Budget(), (record.Budget{Registers: usual.Registers, Shared: want, Spills: usual.Spills}); got != want {
			t.Errorf("%d bytes stated: the budget is %+v, want %+v", stated, got, want)
		}
	}
	for stated, want := range map[int]int{0: usual.Registers, 100: usual.Registers, 255: 255} {
		s := &Subject{Kernel: &kernel.Kernel{Structure: map[string]int{"register_budget": stated}}, Target: ptx.SM89}
		if got, want := s.Budget(), (record.Budget{Registers: want, Shared: usual.Shared, Spills: usual.Spills}); got != want {
			t.Errorf("%d registers stated: the budget is %+v, want %+v", stated, got, want)
		}
	}
}
