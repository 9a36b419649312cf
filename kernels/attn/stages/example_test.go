package stages_test

import (
	"fmt"
	"log"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/kernels/attn/stages"
	"github.com/GOATnote-Inc/attest/ptx"
)

func ExampleBuild() {
	p := stages.Problem{Batch: 1, Heads: 8, Seq: 512, HeadDim: 64, Format: fp8.E4M3}
	preset, err := stages.FindPreset("stage3b", p.HeadDim)
	if err != nil {
		log.Fatal(err)
	}
	k, err := stages.Build(p, preset.Config, ptx.SM89)
	if err != nil {
		log.Fatal(err)
	}
	l := preset.Config.Launch(p, 132, 1)
	fmt.Printf("%s: %v\n", k.Name(), preset.Config)
	fmt.Printf("%d blocks of %d threads, %d bytes of shared memory\n", l.Grid, l.Block, l.Shared)
	// Output:
	// attn_e4m3_d64_f16: 64x64 cp-async-2 vector-dequant tensor-qk tensor-pv fused-softmax
	// 64 blocks of 128 threads, 44032 bytes of shared memory
}

func ExampleConfig_Check() {
	p := stages.Problem{Batch: 1, Heads: 8, Seq: 512, HeadDim: 128, Format: fp8.E4M3}
	preset, err := stages.FindPreset("stage5", p.HeadDim)
	if err != nil {
		log.Fatal(err)
	}
	c := preset.Config
	c.TileN = 128
	fmt.Println(c.Check(p, ptx.SM89))
	// Output:
	// head dimension 128 with tiles of 64×128 and 1 stages: 189504 bytes of shared memory, sm_89 has 101376 a block
}
