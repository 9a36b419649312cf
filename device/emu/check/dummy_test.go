package check

import (
	"slices"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx"
)

// This file is a checker that watches accesses. It shows that a checker is one file:
// nothing else names it.

const dummyStore finding.Kind = "dummy-store"

func init() {
	register(checker{
		kinds: []kind{{
			Rule: finding.Rule{Kind: dummyStore, Short: "a store", Full: "A store to global memory.", Help: "Do not store."},
			why:  "the dummy allows no stores", fix: "leave the store out",
		}},
		start: func(l *launch) part {
			if l.Kernel != "dummy" {
				return nil // other tests run all checkers
			}
			return dummyPart{}
		},
	})
}

type dummyPart struct{}

func (dummyPart) cluster(c *cluster) any { return dummyWatch{c} }

type dummyWatch struct{ *cluster }

func (w dummyWatch) access(a *observe.Access) {
	if a.Write && a.Space == ptx.Global {
		w.report(finding.Finding{Kind: dummyStore, Severity: finding.Warning, Place: w.at(a.ID, a.Rank, a.Warp, a.Mask), Message: "a store"})
	}
}

const dummyText = `.version 7.0
.target sm_80
.address_size 64
.global .align 4 .b32 out[64];
.visible .entry dummy()
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<3>;
	mov.u32 %r1, %tid.x;
	mov.u64 %rd1, out;
	mad.wide.u32 %rd2, %r1, 4, %rd1;
	st.global.u32 [%rd2], %r1;
	ret;
}
`

func TestCheckerIsOneFile(t *testing.T) {
	if !slices.Contains(Kinds(), dummyStore) || !slices.ContainsFunc(Rules(), func(r finding.Rule) bool { return r.Kind == dummyStore }) {
		t.Error("the kind is not listed")
	}
	for _, kinds := range [][]finding.Kind{{dummyStore}, nil, {SharedRace}} {
		c := New(kinds...)
		run(t, c, dummyText, "dummy", device.Launch{Grid: device.D(1), Block: device.D(64)})
		found := c.Findings()
		if slices.Equal(kinds, []finding.Kind{SharedRace}) {
			if len(found) != 0 {
				t.Errorf("%v was not asked for", found)
			}
			continue
		}
		if len(found) != 1 || found[0].Kind != dummyStore || found[0].Line != 12 || found[0].Count != 2 || found[0].Fix != "leave the store out" {
			t.Errorf("found %+v", found)
		}
	}
}

// run launches a kernel on an emulator that is watched.
func run(t *testing.T, c *Checker, text, entry string, l device.Launch) {
	t.Helper()
	dev, err := emu.New(ptx.SM80, emu.Options{Observer: c})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	mod, err := dev.Load(entry+".ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	defer mod.Close()
	k, err := mod.Kernel(entry)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Launch(t.Context(), l); err != nil {
		t.Fatal(err)
	}
}
