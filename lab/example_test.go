package lab_test

import (
	"context"
	"fmt"
	"log"

	"github.com/GOATnote-Inc/attest/internal/resources"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
)

// Measure and judge a kernel without a GPU.
func Example() {
	s, err := lab.Preset("stage3b", problem.Attention{}, kernel.Chip{})
	if err != nil {
		log.Fatal(err)
	}
	plan := lab.Smoke()          // lab.Quick takes longer and finds more
	plan.Ask = resources.Asked{} // no ptxas: an estimate will do here
	r, err := lab.Measure(context.Background(), s, plan, nil)
	if err != nil {
		log.Fatal(err)
	}
	v := gate.Judge(r)
	for _, g := range v.Gates {
		fmt.Println(g.Name, g.Status)
	}
	fmt.Println(v.Outcome, "because", v.Why)
	// Output:
	// resources green
	// defects green
	// correctness green
	// performance skipped
	// CORRECT because correct, not timed: no GPU
}
