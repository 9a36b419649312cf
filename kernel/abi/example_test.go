package abi_test

import (
	"fmt"
	"log"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernel/abi"
	"github.com/GOATnote-Inc/attest/problem"
)

// This kernel supports only sequences of whole tiles. Serves explains why it refuses a
// shape; Bind computes the launch for a shape that the kernel supports.
func ExampleParse() {
	k, err := abi.Parse("mine.json", []byte(`{
	  "entry": "mine", "format": "e4m3",
	  "params": [{"pointer": "q"}, {"pointer": "k"}, {"pointer": "v"}, {"pointer": "o"}, {"u32": "S"}, {"f32": "scale"}],
	  "grid": ["cdiv(S, 64)", "B*H"], "block": [128], "shared": "2*64*D",
	  "require": ["S % 64 == 0"]
	}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(k.Serves(problem.Attention{Shape: problem.Square(1, 8, 100, 64)}, kernel.Chip{}))
	plan, err := k.Bind(problem.Attention{Shape: problem.Square(1, 8, 512, 64)}, kernel.Chip{}, kernel.Options{})
	if err != nil {
		log.Fatal(err)
	}
	s := plan.Steps[0]
	fmt.Println(s.Grid, s.Block, s.Shared)
	// Output:
	// the kernel needs S % 64 == 0 (S is 100)
	// [8 8 1] [128 1 1] 8192
}
