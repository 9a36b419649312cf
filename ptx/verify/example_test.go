package verify_test

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/ptx/parse"
	"github.com/GOATnote-Inc/attest/ptx/verify"
)

func ExampleCheck() {
	m, err := parse.Parse("scale.ptx", `.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 x, .param .f32 a)
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<3>;
	.reg .f32 %f<4>;
	.reg .pred %p;
	ld.param.u64 %rd1, [x];
	ld.param.f32 %f1, [a];
	mov.u32 %r1, %tid.x;
	setp.ge.u32 %p, %r1, 100;
	@%p bra done;
	mad.wide.u32 %rd2, %r1, 4, %rd1;
	ld.global.f32 %f2, [%rd2];
	mul.f32 %f3, %f2, 2;
	st.global.f32 [%rd2], %f3;
	bar.sync 0;
done:
	ret;
}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range verify.Check(m) {
		fmt.Println(d.Format("scale.ptx"))
	}
	f := m.Func("scale")
	fmt.Println("about", verify.Pressure(f, verify.NewCFG(f)).Registers, "registers")
	// Output:
	// scale.ptx:17:20: error: mul.f32: constant 2 does not fit .f32; write a float as 0f3F800000 or 0d3FF0000000000000
	// scale.ptx:19:2: warning: bar.sync needs all lanes of the warp, but "@%p bra done" at line 14 separates them (from %tid.x, line 12)
	// about 3 registers
}
