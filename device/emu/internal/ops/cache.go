package ops

import (
	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/ptx"
)

// The emulator has no caches, so instructions that control them do nothing.

func init() {
	nothing := func(d *decoder, x *inst) exec { return func(*frame, uint32) {} }
	for _, name := range []string{"prefetch", "prefetchu", "applypriority", "membar", "fence"} {
		build(name, nothing)
	}
	build("discard", buildDiscard)
	build("createpolicy", buildPolicy)
}

// buildDiscard builds discard. The content of the line is undefined afterwards. The
// emulator writes an unlikely value, so that a program that reads it gets wrong results.
func buildDiscard(d *decoder, x *inst) exec {
	a := d.Addr(x.Arg("a"), x.SpaceName("a"))
	return func(f *frame, m uint32) {
		machine.EachLane(m, func(l int) {
			b := a.View(f, l, 128, true)
			for i := range b {
				b[i] = 0xdb
			}
		})
	}
}

// anyPolicy is the value of every cache policy. Policies are opaque to programs, and the
// emulator ignores them.
const anyPolicy = 1 << 60

// buildPolicy builds createpolicy.
func buildPolicy(d *decoder, x *inst) exec {
	to := d.Dst(x.Arg("cachePolicy"), ptx.B64)
	from := d.Const64(anyPolicy)
	if p := x.Arg("accessProperty"); p != nil {
		from = d.Src64(p, ptx.B64)
	}
	return func(f *frame, m uint32) { machine.MoveLanes(&f.R64[to], &f.R64[from], m) }
}
