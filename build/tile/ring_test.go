package tile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestAsync copies words through rings of cp.async. Each thread waits for its own copies and,
// after a barrier, reads those of another thread.
func TestAsync(t *testing.T) {
	const threads, most = 64, 7
	for _, stages := range []int{1, 2, 3} {
		for _, tiles := range []int{1, 2, 3, most} {
			k := build.New("copy", ptx.SM80)
			in, out := build.ParamGlobal[build.U32](k, "in"), build.ParamGlobal[build.U32](k, "out")
			mem := build.SharedArray[build.U32](k, "mem", stages*threads*4)
			tid := k.TidX()
			at := func(slot, thread build.U32) build.Shared[build.U32] {
				return mem.At(slot.MadLo(threads, thread).MulLo(4))
			}
			fetch := func(tile, slot build.U32) {
				k.If(tile.SetpLt(tiles), func() {
					k.CpAsyncCg(at(slot, tid), in.At(tile.MadLo(threads, tid).MulLo(4)), 16)
				})
			}
			ring := tile.NewAsync(k, stages)
			ring.Fill(fetch)
			k.Loop(0, tiles, 1, func(j build.U32) {
				ring.Wait()
				k.SyncThreads()
				v := at(ring.Slot(), tid.Xor(1)).LdV4() // the words of the neighbouring thread
				out.At(j.MadLo(threads, tid).MulLo(4)).StV4(v)
				k.SyncThreads() // all have read before the buffer is filled again
				ring.Refill(func(ahead, slot build.U32) { fetch(j.Add(ahead), slot) })
			})
			data := matrix(most, threads*4, func(r, c int) float32 { return float32(r*1000 + c) }, single)
			for name, dev := range devices(t, ptx.SM80) {
				got := words(t, dev, k, threads, tiles*threads*4, data)
				for i, w := range got {
					from := i ^ 4 // the neighbour's four words
					want := uint32(data[4*from]) | uint32(data[4*from+1])<<8 | uint32(data[4*from+2])<<16 | uint32(data[4*from+3])<<24
					if w != want {
						t.Fatalf("%s, %d stages, %d tiles: word %d is %#x, want %#x", name, stages, tiles, i, w, want)
					}
				}
			}
		}
	}
}

// ringOf returns a ring whose slots are 32 words of mem each, one per lane.
func ringOf(k *build.Kernel, mem build.Shared[build.U32], bars string, slots int) tile.Ring {
	b := tile.NewBuffers(k, build.SharedAs[build.B8](mem, 0), 4*32, slots)
	return tile.NewRing(b, build.SharedArray[build.B64](k, bars, tile.RingBytes(slots)/8))
}

// TestRing passes numbers from one warp to two others through a ring, many times around.
func TestRing(t *testing.T) {
	const rounds, consumers = 11, 2
	for _, target := range []ptx.Target{ptx.SM80, ptx.SM90} {
		for _, slots := range []int{1, 2, 3, 4} {
			k := build.New("ring", target)
			if target == ptx.SM80 {
				k.Version(7, 1)
			}
			out := build.ParamGlobal[build.U32](k, "out")
			mem := build.SharedArray[build.U32](k, "mem", slots*32)
			tid := k.TidX()
			lane, warp := tid.And(31), tid.Shr(5)
			w := tile.NewWarp(k, lane)
			ring := ringOf(k, mem, "bars", slots)
			k.If(tid.SetpEq(0), func() { ring.Init(1, consumers) })
			k.SyncThreads()
			k.If(warp.SetpEq(0), func() {
				side := ring.Producer()
				k.Loop(0, rounds, 1, func(i build.U32) {
					slot := side.Wait()
					mem.At(slot.MadLo(32, lane)).St(i.MadLo(100, lane))
					side.Signal(w)
					side.Next()
				})
			}).Else(func() {
				side := ring.Consumer()
				k.Loop(0, rounds, 1, func(i build.U32) {
					slot := side.Wait()
					v := mem.At(slot.MadLo(32, lane.Xor(31))).Ld() // the word of another lane
					to := i.MadLo(consumers, warp.Sub(1)).MadLo(32, lane)
					out.At(to).St(v)
					side.Signal(w)
					side.Next()
				})
			})
			t.Run(fmt.Sprintf("%s/%d", target, slots), func(t *testing.T) {
				for name, dev := range devices(t, target) {
					for i, v := range words(t, dev, k, 32*(1+consumers), rounds*consumers*32) {
						if want := uint32(i/32/consumers*100 + 31 - i%32); v != want {
							t.Fatalf("%s: word %d is %d, want %d", name, i, v, want)
						}
					}
				}
			})
		}
	}
}

// TestRingSkip runs two warps that each use every second slot of a ring.
func TestRingSkip(t *testing.T) {
	const rounds, consumers = 12, 2
	for _, slots := range []int{2, 4, 6} {
		k := build.New("ring", ptx.SM90)
		out := build.ParamGlobal[build.U32](k, "out")
		mem := build.SharedArray[build.U32](k, "mem", slots*32)
		tid := k.TidX()
		lane, warp := tid.And(31), tid.Shr(5)
		w := tile.NewWarp(k, lane)
		ring := ringOf(k, mem, "bars", slots)
		k.If(tid.SetpEq(0), func() { ring.Init(1, 1) })
		k.SyncThreads()
		k.If(warp.SetpEq(0), func() {
			side := ring.Producer()
			k.Loop(0, rounds, 1, func(i build.U32) {
				slot := side.Wait()
				mem.At(slot.MadLo(32, lane)).St(i.MadLo(100, lane))
				side.Signal(w)
				side.Next()
			})
		}).Else(func() {
			side := ring.Consumer()
			side.Begin(warp.Sub(1))
			k.Loop(warp.Sub(1), rounds, consumers, func(i build.U32) {
				slot := side.Wait()
				v := mem.At(slot.MadLo(32, lane)).Ld()
				out.At(i.MadLo(32, lane)).St(v)
				side.Signal(w)
				side.Skip(consumers)
			})
		})
		for name, dev := range devices(t, ptx.SM90) {
			for i, v := range words(t, dev, k, 32*(1+consumers), rounds*32) {
				if want := uint32(i/32*100 + i%32); v != want {
					t.Fatalf("%s, %d slots: word %d is %d, want %d", name, slots, i, v, want)
				}
			}
		}
	}
}

// TestRingsTogether passes numbers through two rings, one after the other. The warp between the
// rings uses one position for both. The last warp also uses one position for both, or computes
// it from the number of the round.
func TestRingsTogether(t *testing.T) {
	const rounds = 9
	for _, target := range []ptx.Target{ptx.SM90, ptx.SM90a} { // on sm_90a one lane is elected
		for _, slots := range []int{1, 2} {
			for _, numbered := range []bool{false, true} {
				k := build.New("rings", target)
				out := build.ParamGlobal[build.U32](k, "out")
				first, second := build.SharedArray[build.U32](k, "first", slots*32), build.SharedArray[build.U32](k, "second", slots*32)
				tid := k.TidX()
				lane, warp := tid.And(31), tid.Shr(5)
				w := tile.NewWarp(k, lane)
				a := ringOf(k, first, "a", slots)
				b := ringOf(k, second, "b", slots)
				k.If(tid.SetpEq(0), func() {
					a.Init(1, 2)
					b.Init(1, 1)
				})
				k.SyncThreads()
				at := func(mem build.Shared[build.U32], slot build.U32) build.Shared[build.U32] {
					return mem.At(slot.MadLo(32, lane))
				}
				each := func(body func(i build.U32)) { k.Loop(0, rounds, 1, body) }
				k.If(warp.SetpEq(0), func() {
					to := a.Producer()
					each(func(i build.U32) {
						at(first, to.Wait()).St(i.MadLo(100, lane))
						to.Signal(w)
						to.Next()
					})
				})
				k.If(warp.SetpEq(1), func() {
					from := a.Consumer()
					to := b.ProducerWith(from)
					each(func(build.U32) {
						x := at(first, from.Wait()).Ld()
						at(second, to.Wait()).St(x.Add(7))
						from.Signal(w)
						to.Signal(w)
						from.Next()
					})
				})
				k.If(warp.SetpEq(2), func() {
					from := a.Consumer()
					each(func(i build.U32) {
						also := b.ConsumerWith(from)
						if numbered {
							also = b.ConsumerAt(i)
						}
						x, y := at(first, from.Wait()).Ld(), at(second, also.Wait()).Ld()
						out.At(i.MadLo(32, lane)).St(y.Sub(x).MadLo(1000000, y))
						from.Signal(w)
						also.Signal(w)
						from.Next()
					})
				})
				for name, dev := range devices(t, target) {
					for i, v := range words(t, dev, k, 96, rounds*32) {
						if want := uint32(7000000 + i/32*100 + i%32 + 7); v != want {
							t.Fatalf("%s, %s, %d slots: word %d is %d, want %d", name, target, slots, i, v, want)
						}
					}
				}
			}
		}
	}
	k := build.New("rings", ptx.SM90)
	mem := build.SharedArray[build.U32](k, "mem", 3*32)
	three, two := ringOf(k, mem, "three", 3), ringOf(k, mem, "two", 2)
	three.ConsumerWith(two.Consumer())
	three.ConsumerAt(k.U32(0))
	_, err := k.PTX()
	for _, want := range []string{"a ring of 3 slots cannot share the position of a ring of 2 slots", "only rings of 1 or 2 slots"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
