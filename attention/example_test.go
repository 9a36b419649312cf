package attention_test

import (
	"context"
	"fmt"
	"log"

	"github.com/GOATnote-Inc/attest/attention"
	"github.com/GOATnote-Inc/attest/device"
	_ "github.com/GOATnote-Inc/attest/device/emu" // and _ "github.com/GOATnote-Inc/attest/device/cuda" for GPUs
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ref"
)

// A program that computes attention: on a GPU if the machine has one and the program
// imports device/cuda, otherwise on the emulator.
func Example() {
	dev, err := device.Open("emu:sm_89") // "" selects a GPU if there is one
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	op, err := attention.New(dev, attention.Problem{Shape: attention.Square(1, 2, 48, 64), Format: problem.E4M3})
	if err != nil {
		log.Fatal(err)
	}
	defer op.Close()

	// Q, K and V are float32, [batch][head][position][dimension]. Here they are random.
	in, err := ref.Generate("normal", 0, problem.Square(1, 2, 48, 64))
	if err != nil {
		log.Fatal(err)
	}
	r, err := op.Run(context.Background(), attention.F32(in.Q.Data), attention.F32(in.K.Data), attention.F32(in.V.Data))
	if err != nil {
		log.Fatal(err)
	}
	o := r.Float32()
	fmt.Printf("%d numbers, the first is %.2f\n", len(o), o[0])
	// Output: 6144 numbers, the first is -0.53
}
