package gate_test

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/internal/resources"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/record"
)

// A kernel that uses too many registers is rejected by the first gate.
func ExampleJudge() {
	v := gate.Judge(&record.Record{Resources: &record.Resources{
		Budget: gate.BudgetFor("sm_89"),
		Usage:  []resources.Usage{{Kernel: "attn", Target: "sm_89", Registers: resources.Figure{Value: 200, Source: resources.Ptxas}}},
	}})
	fmt.Println(v.Outcome)
	fmt.Println(v.Why)
	// Output:
	// REJECT
	// the resources gate is red: sm_89: 200 registers, the budget is 128 (ptxas)
}
