package hopper_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels/attn/hopper"
	"github.com/GOATnote-Inc/attest/problem"
)

// A kernel for one problem: the text that a driver loads, and how to start it.
func Example() {
	p := problem.Attention{Shape: problem.Square(1, 8, 512, 64), Format: problem.E4M3}
	c := hopper.SplitKeys(2)
	k, err := hopper.New(p, c)
	if err != nil {
		log.Fatal(err)
	}
	plan, err := k.Bind(p, kernel.Chip{SMs: 132}, kernel.Options{})
	if err != nil {
		log.Fatal(err)
	}
	s := plan.Steps[0]
	fmt.Println(strings.Contains(k.PTX, ".target sm_90a"))
	fmt.Printf("grid %v, block %v, cluster %v, %d bytes of shared memory\n", s.Grid, s.Block, s.Cluster, s.Shared)
	// Output:
	// true
	// grid [16 8 1], block [384 1 1], cluster [2 1 1], 72704 bytes of shared memory
}
