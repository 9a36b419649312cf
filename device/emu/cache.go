package emu

import "github.com/GOATnote-Inc/attest/ptx"

// Caches hold no other data than memory does: what steers them computes nothing.

func init() {
	nothing := func(d *decoder, x *inst) exec { return func(*frame, uint32) {} }
	for _, name := range []string{"prefetch", "prefetchu", "applypriority", "membar", "fence"} {
		build(name, nothing)
	}
	build("discard", buildDiscard)
	build("createpolicy", buildPolicy)
}

// buildDiscard is discard. What the line holds afterwards is undefined: a pattern
// that is no likely value shows who reads it.
func buildDiscard(d *decoder, x *inst) exec {
	a := d.addr(x.Arg("a"), x.SpaceName("a"))
	return func(f *frame, m uint32) {
		eachLane(m, func(l int) {
			b := a.view(f, l, 128, true)
			for i := range b {
				b[i] = 0xdb
			}
		})
	}
}

// somePolicy stands for every cache policy: they are opaque to programs, and no
// access here heeds them.
const somePolicy = 1 << 60

// buildPolicy is createpolicy.
func buildPolicy(d *decoder, x *inst) exec {
	to := d.dst(x.Arg("cachePolicy"), ptx.B64)
	from := d.const64(somePolicy)
	if p := x.Arg("accessProperty"); p != nil {
		from = d.src64(p, ptx.B64)
	}
	return func(f *frame, m uint32) { move(&f.r64[to], &f.r64[from], m) }
}
