package tile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestTiles passes tiles from one warp to another through a ring that owns its buffers. Each
// lane of the producer writes one row of 16 f16, and the consumer reads columns.
func TestTiles(t *testing.T) {
	const rounds, rows, cols = 7, 32, 16
	for _, slots := range []int{1, 2, 3} {
		k := build.New("tiles", ptx.SM90)
		out := build.ParamGlobal[build.U32](k, "out")
		bytes := tile.Bytes(rows, 2*cols, true)
		mem := build.SharedAlign(build.SharedArray[build.B8](k, "mem", slots*bytes), 1024)
		ring := tile.NewRing(tile.NewBuffers(k, mem, bytes, slots), build.SharedArray[build.B64](k, "bars", tile.RingBytes(slots)/8))
		first := tile.Swizzled(k, build.SharedAs[build.F16](ring.First(), 0), rows, cols)
		tid := k.TidX()
		lane := tid.And(31)
		w := tile.NewWarp(k, lane)
		k.If(tid.SetpEq(0), func() { ring.Init(1, 1) })
		k.SyncThreads()
		k.If(tid.SetpLt(32), func() {
			to := tile.TilesOf(ring.Producer(), first)
			k.Loop(0, rounds, 1, func(i build.U32) {
				row := to.At(to.Wait())
				for c := range cols {
					v := i.MadLo(1000, lane.MadLo(cols, c))
					row.At(lane, c).St(build.Cast[build.F16](v.CvtU16()))
				}
				to.Signal(w)
				to.Next()
			})
		}).Else(func() {
			from := tile.TilesOf(ring.Consumer(), first)
			k.Loop(0, rounds, 1, func(i build.U32) {
				v := build.Cast[build.U16](from.At(from.Wait()).At(lane, lane.And(cols-1)).Ld())
				out.At(i.MadLo(32, lane)).St(v.CvtU32())
				from.Signal(w)
				from.Next()
			})
		})
		t.Run(fmt.Sprint(slots), func(t *testing.T) {
			for name, dev := range devices(t, ptx.SM90) {
				for i, v := range words(t, dev, k, 64, rounds*32) {
					if want := uint32(i/32*1000 + i%32*cols + i%cols); v != want {
						t.Fatalf("%s: word %d is %d, want %d", name, i, v, want)
					}
				}
			}
		})
	}
}

// TestBuffers checks the addresses of slots and the errors for wrong sizes.
func TestBuffers(t *testing.T) {
	k := build.New("buffers", ptx.SM90)
	mem := build.SharedArray[build.B8](k, "mem", 4096)
	b := tile.NewBuffers(k, mem, 1024, 4)
	out := build.ParamGlobal[build.U32](k, "out")
	out.At(0).St(b.At(3).Addr().Sub(mem.Addr()))
	out.At(1).St(b.At(k.TidX()).Addr().Sub(mem.Addr()))
	out.At(2).St(b.Part(b.Offset(k.U32(2)), 512).Addr().Sub(mem.Addr()))
	for name, dev := range devices(t, ptx.SM90) {
		got := words(t, dev, k, 1, 3)
		if want := []uint32{3072, 0, 2560}; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	b.At(4)
	b.Part(k.U32(0), 1024)
	tile.NewBuffers(k, mem, 0, 4)
	_, err := k.PTX()
	for _, want := range []string{"slot 4 of a ring of 4 slots", "byte 1024 of a slot of 1024 bytes", "4 buffers of 0 bytes"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
