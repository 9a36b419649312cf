package verify

import (
	"testing"

	"github.com/GOATnote-Inc/attest/ptx"
)

// TestSource checks that findings have the source position from .loc, even if the PTX itself has
// no positions.
func TestSource(t *testing.T) {
	text := header + `.file 1 "/src/kernel.go"
.visible .entry k()
{
	.reg .b32 %r<3>;
	.reg .f32 %f;
	mov.f32 %f, 0f00000000;
	mov.u32 %r1, %f;
	.loc 1 42 7
	mov.u32 %r2, %f;
	ret;
}`
	m := mustParse(t, "k.ptx", text)
	format(t, m, "k.ptx:10:15: error: mov.u32: %f is .f32; the operand is .u32",
		"k.ptx:12:15: error: mov.u32: %f is .f32; the operand is .u32 (/src/kernel.go:42:7)")

	for _, s := range m.Func("k").Body {
		if in, ok := s.(*ptx.Inst); ok {
			in.Pos = ptx.Pos{}
			for i := range in.Args {
				in.Args[i].Pos = ptx.Pos{}
			}
		}
	}
	format(t, m, "k.ptx: error: mov.u32: %f is .f32; the operand is .u32",
		"/src/kernel.go:42:7: error: mov.u32: %f is .f32; the operand is .u32")
}

func format(t *testing.T, m *ptx.Module, want ...string) {
	t.Helper()
	var got []string
	for _, d := range Check(m) {
		got = append(got, d.Format("k.ptx"))
	}
	compare(t, want, got)
}
