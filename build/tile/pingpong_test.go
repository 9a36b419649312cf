package tile_test

import (
	"testing"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestPingPong runs two schedules of three warps each. Each warp writes its number to the list
// of its schedule four times. The lists must have the order of the schedule, in whatever order
// the device runs the warps.
func TestPingPong(t *testing.T) {
	for _, counted := range []bool{false, true} { // whether the caller counts the rounds
		testPingPong(t, counted)
	}
}

func testPingPong(t *testing.T, counted bool) {
	const groups, stride, rounds = 3, 2, 4
	k := build.New("pingpong", ptx.SM90)
	k.ReqNTid(32 * groups * stride)
	out := build.ParamGlobal[build.U32](k, "out")
	bars := build.SharedArray[build.B64](k, "bars", groups*stride)
	pingPong := tile.NewPingPong(k, bars, groups*stride)
	places := build.SharedArray[build.U32](k, "places", stride)
	tid := k.TidX()
	k.If(tid.SetpEq(0), func() {
		pingPong.Init()
		for i := range stride {
			places.Plus(i).St(0)
		}
	})
	k.SyncThreads()
	w := tile.NewWarp(k, tid.And(31))
	warp := tid.Shr(5)
	list := warp.And(stride - 1)
	member := pingPong.Member(warp, stride)
	k.Loop(0, rounds, 1, func(i build.U32) {
		if counted {
			member.WaitIn(i)
		} else {
			member.Wait()
		}
		k.If(w.Lane.SetpEq(0), func() {
			at := places.At(list)
			n := at.Ld()
			out.At(list.MadLo(groups*rounds, n)).St(warp)
			at.St(n.Add(1))
		})
		w.Sync()
		member.Pass(w, k.F32(1))
	})
	for name, dev := range devices(t, ptx.SM90) {
		for i, got := range words(t, dev, k, 32*groups*stride, stride*groups*rounds) {
			list, n := i/(groups*rounds), i%(groups*rounds)
			if want := uint32(n%groups*stride + list); got != want {
				t.Errorf("%s: entry %d of list %d is warp %d, want %d", name, n, list, got, want)
			}
		}
	}
}
