package launchfile_test

import (
	"context"
	"fmt"
	"os"

	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/launchfile"
	"github.com/GOATnote-Inc/attest/ptx"
)

const double = `.version 7.0
.target sm_80
.address_size 64
.visible .entry double(.param .u64 x)
{
	.reg .b32 %r<3>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [x];
	mov.u32 %r1, %tid.x;
	mad.wide.u32 %rd2, %r1, 4, %rd1;
	ld.global.u32 %r2, [%rd2];
	add.u32 %r2, %r2, %r2;
	st.global.u32 [%rd2], %r2;
	ret;
}
`

func Example() {
	files := map[string]string{"in.u32.txt": "1 2 3 4", "out.u32.txt": "2 4 6 9"}
	file, err := launchfile.Parse("launch.json", []byte(`{
		"entry": "double", "block": [4],
		"params": [{"buffer": "in.u32.txt", "expect": "out.u32.txt", "type": "u32"}]
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	dev, err := emu.New(ptx.SM80, emu.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	mod, err := dev.Load("double.ptx", double)
	if err != nil {
		fmt.Println(err)
		return
	}
	run := launchfile.Runner{Device: dev, Module: mod, Read: func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, os.ErrNotExist
	}}
	err = run.Run(context.Background(), file, func(r *launchfile.Result) {
		for _, c := range r.Comparisons {
			fmt.Println(r.Entry, r.OK(), c)
			fmt.Println("first:", c.First[0].Index, c.First[0].Got, c.First[0].Want)
		}
	})
	fmt.Println(err)
	// Output:
	// double false parameter 0: 1 of 4 u32 differ from out.u32.txt, by at most 1
	// first: 3 8 9
	// <nil>
}
