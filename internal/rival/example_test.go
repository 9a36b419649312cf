package rival_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/GOATnote-Inc/attest/internal/rival"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/timing"
)

func Example() {
	ctx := context.Background()
	r, err := rival.Start(ctx, "torch", rival.Options{})
	if errors.Is(err, rival.ErrMissing) {
		return // no Python, no PyTorch or no GPU: there is nothing to compare with
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	p, err := r.Prepare(ctx, rival.Case{Shape: problem.Square(1, 8, 512, 64), DType: "f16", Implementation: "flash"})
	if err != nil {
		fmt.Println(err)
		return
	}
	theirs, err := p.Candidate(ctx, timing.Graph, timing.Warm)
	if err != nil {
		fmt.Println(err)
		return
	}
	run, err := timing.Interleave(ctx, timing.Plan{}, theirs) // and ours
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: %.1f µs\n", theirs.Name(), run.Summary(0).P50)
}
