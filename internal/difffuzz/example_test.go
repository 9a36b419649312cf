package difffuzz_test

import (
	"context"
	"fmt"
	"io"

	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/internal/difffuzz"
	"github.com/GOATnote-Inc/attest/ptx"
)

// The emulator must give the same bits under another schedule and with one more block.
func Example() {
	f := &difffuzz.Fuzzer{
		Options: difffuzz.Options{Target: ptx.SM80, Version: ptx.Version{Major: 8}},
		Seed:    1, Kernels: 20,
		Open: func() (*difffuzz.Pair, error) {
			a, err := emu.New(ptx.SM80, emu.Options{Output: io.Discard})
			if err != nil {
				return nil, err
			}
			b, err := emu.New(ptx.SM80, emu.Options{Output: io.Discard, Schedule: 7})
			if err != nil {
				return nil, err
			}
			return &difffuzz.Pair{Reference: &difffuzz.Local{Device: a}, Other: &difffuzz.Local{Device: b, ExtraBlocks: 1}}, nil
		},
	}
	stats, err := f.Run(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d kernels, %d differ\n", stats.Kernels, len(stats.Finds))
	// Output: 20 kernels, 0 differ
}
