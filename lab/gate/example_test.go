package gate_test

import (
	"fmt"

	"attest/lab/gate"
	"attest/record"
	"attest/resources"
)

// A kernel that takes too many registers is not looked at any further.
func ExampleJudge() {
	v := gate.Judge(&record.Record{Resources: &record.Resources{
		Budget: gate.BudgetFor("sm_89"),
		Usage:  []resources.Usage{{Kernel: "attn", Target: "sm_89", Registers: resources.Figure{Value: 200, Source: resources.Ptxas}}},
	}})
	fmt.Println(v.Outcome)
	fmt.Println(v.Why)
	// Output:
	// REJECT
	// resources is red: sm_89: 200 registers, the budget is 128 (ptxas)
}
