package hopper_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/kernels/attn/hopper"
)

// A kernel for one problem: the text that a driver loads, and how to start it.
func Example() {
	p := hopper.Square(1, 8, 512, 64, fp8.E4M3)
	c := hopper.InHalves(2)
	k, err := hopper.Build(p, c)
	if err != nil {
		log.Fatal(err)
	}
	text, err := k.PTX()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Contains(text, ".target sm_90a"))
	fmt.Printf("%+v\n", c.Launch(p, 132))
	// Output:
	// true
	// {GridX:16 GridY:8 Block:384 Cluster:2 Shared:72704}
}
