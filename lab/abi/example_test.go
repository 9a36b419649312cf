package abi_test

import (
	"fmt"
	"log"

	"github.com/GOATnote-Inc/attest/lab/abi"
	"github.com/GOATnote-Inc/attest/problem"
)

// A kernel that wants whole tiles says so, and is launched for what it serves.
func ExampleParse() {
	a, err := abi.Parse("mine.json", []byte(`{
	  "entry": "mine", "format": "e4m3",
	  "params": [{"pointer": "q"}, {"pointer": "k"}, {"pointer": "v"}, {"pointer": "o"}, {"u32": "S"}, {"f32": "scale"}],
	  "grid": ["cdiv(S, 64)", "B*H"], "block": [128], "shared": "2*64*D",
	  "require": ["S % 64 == 0"]
	}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Serves(problem.Square(1, 8, 100, 64)))
	l, err := a.Extents(abi.Vars{Shape: problem.Square(1, 8, 512, 64)})
	fmt.Println(l.Grid, l.Block, l.Shared, err)
	// Output:
	// mine needs S % 64 == 0
	// (8, 8, 1) (128, 1, 1) 8192 <nil>
}
