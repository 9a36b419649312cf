package parse_test

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

const saxpy = `
.version 8.0
.target sm_80
.address_size 64

.visible .entry saxpy(.param .u64 x, .param .u64 y, .param .f32 a)
{
	.reg .b32 %r<2>;
	.reg .f32 %f<4>;
	.reg .b64 %rd<6>;
	ld.param.u64 %rd1, [x];
	ld.param.u64 %rd2, [y];
	ld.param.f32 %f1, [a];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd3, %r1, 4;
	add.s64 %rd4, %rd1, %rd3;
	add.s64 %rd5, %rd2, %rd3;
	ld.global.f32 %f2, [%rd4];
	ld.global.f32 %f3, [%rd5];
	fma.rn.f32 %f3, %f1, %f2, %f3;
	st.global.f32 [%rd5], %f3;
	ret;
}
`

func ExampleParse() {
	m, err := parse.Parse("saxpy.ptx", saxpy)
	if err != nil {
		fmt.Println(err)
		return
	}
	f := m.Func("saxpy")
	fmt.Printf("%s for %s: %d parameters, %d registers\n", f.Sym.Name, m.Target, len(f.Params), len(f.Regs))
	for _, s := range f.Body {
		if in, ok := s.(*ptx.Inst); ok && in.Op.Has("global") {
			fmt.Printf("line %d: %v\n", in.Pos.Line, in)
		}
	}
	// Output:
	// saxpy for sm_80: 3 parameters, 9 registers
	// line 18: ld.global.f32 %f2, [%rd4];
	// line 19: ld.global.f32 %f3, [%rd5];
	// line 21: st.global.f32 [%rd5], %f3;
}

// Parse reports all errors of a text at once, each with its position.
func ExampleParse_errors() {
	_, err := parse.Parse("broken.ptx", `.version 8.0
.target sm_80
.visible .entry k() {
	.reg .b32 %r<4>
	add.s32 %r1, %r2 %r3;
	ld.global.u32 %r1, [%r2-4];
	ret;
}`)
	fmt.Println(err)
	// Output:
	// broken.ptx:5:2: expected `;` or `,` after the register, found `add.s32`
	// broken.ptx:5:19: expected `,` or `;` after operand, found `%r3`
	// broken.ptx:6:25: PTX writes a negative offset with a plus: `[%r2+-8]`
}
