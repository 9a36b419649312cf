package resources_test

import (
	"context"
	"fmt"

	"github.com/GOATnote-Inc/attest/examples"
	"github.com/GOATnote-Inc/attest/internal/resources"
	"github.com/GOATnote-Inc/attest/ptx"
)

func ExampleOf() {
	text, err := examples.Saxpy().PTX()
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := resources.Of(context.Background(), "saxpy.ptx", text, ptx.SM89, resources.Asked{}) // or OnPath()
	if err != nil {
		fmt.Println(err)
		return
	}
	u := r.Usage("saxpy")
	fmt.Println("registers:", u.Registers)
	fmt.Println("spills:", u.SpillStores)
	// Output:
	// registers: 9 (estimate)
	// spills: unknown
}
