package count_test

import (
	"context"
	"fmt"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/emu/count"
	"github.com/GOATnote-Inc/attest/ptx"
)

func Example() {
	c := count.New()
	dev, err := emu.New(ptx.SM80, emu.Options{Observer: c})
	if err != nil {
		panic(err)
	}
	m, err := dev.Load("column.ptx", `.version 7.0
.target sm_80
.address_size 64
.visible .entry column()
{
	.shared .align 4 .b8 tile[4096];
	.reg .b32 %r<3>;
	mov.u32 %r0, %tid.x;
	shl.b32 %r1, %r0, 7; // rows of 128 bytes: a column is all in one bank
	ld.shared.u32 %r2, [%r1];
	ret;
}
`)
	if err != nil {
		panic(err)
	}
	k, err := m.Kernel("column")
	if err != nil {
		panic(err)
	}
	if err := k.Launch(context.Background(), device.Launch{Block: device.D(32)}); err != nil {
		panic(err)
	}
	for _, l := range c.Launches() {
		fmt.Printf("%s: %d warp instructions, %d wavefronts, %d of them conflicts\n",
			l.Kernel, l.WarpInstructions, l.Shared.Wavefronts, l.Shared.Conflicts)
	}
	// Output: column: 4 warp instructions, 32 wavefronts, 31 of them conflicts
}
