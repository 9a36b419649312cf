package ops

import (
	"slices"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/device/emu/internal/memory"
	"github.com/GOATnote-Inc/attest/ptx"
)

// buildTensorMap builds tensormap.replace and tensormap.cp_fenceproxy.
func buildTensorMap(d *decoder, x *inst) exec {
	if x.Has("cp_fenceproxy") {
		dst, src := d.Addr(x.Arg("dst"), x.SpaceName("dst")), d.Addr(x.Arg("src"), x.SpaceName("src"))
		return func(f *frame, m uint32) {
			l := machine.FirstLane(m)
			copy(dst.View(f, l, 128, true), src.View(f, l, 128, false))
		}
	}
	a, field, ord := d.Addr(x.Arg("addr"), x.SpaceName("addr")), x.Mod("field"), 0
	if o := x.Arg("ord"); o != nil {
		ord = int(o.Val)
	}
	t := x.Type("newVal")
	if t == ptx.NoType {
		t = ptx.B32
	}
	val := d.StoreSrc(x.Arg("newVal"), t)
	return func(f *frame, m uint32) {
		machine.EachLane(m, func(l int) {
			b := a.View(f, l, 128, true)
			tm, err := memory.DecodeTensorMap(b)
			if err != nil && blank(b) {
				tm, err = &memory.TensorMap{}, nil // a new map: Triton fills zeroed memory with replace
			}
			f.Origin(l).Check(err)
			tm.Replace(field, ord, val.Get(f, l))
			tm.Encode(b)
		})
	}
}

// blank reports whether all bytes are zero.
func blank(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c != 0 })
}

func init() { build("tensormap", buildTensorMap) }
