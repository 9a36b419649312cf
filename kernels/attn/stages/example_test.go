package stages_test

import (
	"fmt"
	"log"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels/attn/stages"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

func ExampleNew() {
	p := problem.Attention{Shape: problem.Square(1, 8, 512, 64), Format: problem.E4M3}
	preset, err := stages.FindPreset("stage3b", p.D)
	if err != nil {
		log.Fatal(err)
	}
	k, err := stages.New(p, preset.Config, ptx.SM89)
	if err != nil {
		log.Fatal(err)
	}
	plan, err := k.Bind(p, kernel.Chip{SMs: 132}, kernel.Options{})
	if err != nil {
		log.Fatal(err)
	}
	s := plan.Steps[0]
	fmt.Printf("%s: %v\n", s.Entry, preset.Config)
	fmt.Printf("%d blocks of %d threads, %d bytes of shared memory\n", s.Grid[0], s.Block[0], s.Shared)
	// Output:
	// attn_e4m3_d64_f16: 64x64 cp-async-2 vector-dequant tensor-qk tensor-pv fused-softmax
	// 64 blocks of 128 threads, 44032 bytes of shared memory
}

func ExampleConfig_Check() {
	p := problem.Attention{Shape: problem.Square(1, 8, 512, 128), Format: problem.E4M3}
	preset, err := stages.FindPreset("stage5", p.D)
	if err != nil {
		log.Fatal(err)
	}
	c := preset.Config
	c.TileN = 128
	fmt.Println(c.Check(p, ptx.SM89))
	// Output:
	// head dimension 128 with tiles of 64x128 and 1 stage needs 189504 bytes of shared memory, but sm_89 has only 101376 per block
}
