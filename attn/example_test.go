package attn_test

import (
	"context"
	"fmt"
	"log"

	"attest/attn"
	"attest/device"
	_ "attest/device/emu" // and _ "attest/device/cuda" for GPUs
	"attest/fp8"
	"attest/ref"
)

// A program that computes attention: on a GPU if the machine has one and the program
// imports device/cuda, otherwise on the emulator.
func Example() {
	dev, err := device.Open("emu:sm_89") // "" takes a GPU if there is one
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	op, err := attn.New(dev, attn.Problem{Batch: 1, Heads: 2, Seq: 48, HeadDim: 64, Format: fp8.E4M3})
	if err != nil {
		log.Fatal(err)
	}
	defer op.Close()

	// Q, K and V are float32, [batch][head][position][dimension]. Yours come from
	// elsewhere.
	in, err := ref.Generate("normal", 0, ref.Square(1, 2, 48, 64))
	if err != nil {
		log.Fatal(err)
	}
	r, err := op.Run(context.Background(), attn.F32(in.Q.Data), attn.F32(in.K.Data), attn.F32(in.V.Data))
	if err != nil {
		log.Fatal(err)
	}
	o := r.Float32()
	fmt.Printf("%d numbers, the first is %.2f\n", len(o), o[0])
	// Output: 6144 numbers, the first is -0.53
}
