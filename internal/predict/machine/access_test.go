package machine

import (
	"math"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/predict/warptrace"
)

// memorySim returns a replay that has reached no operation yet, and a warp of it. 4 bytes per cycle come from the
// L2, and 8 by bulk copies; 8 go to the L2, or 2 after a burst of 1024. misses is the share of reads that DRAM delivers.
func memorySim(misses float64) (*sim, *warp) {
	m := &Machine{rates: known(), edit: &Edit{}}
	s := &sim{Machine: m, plan: Plan{L2Bytes: 4, BulkBytes: 8, StoreBytes: 2, Misses: misses}, sms: make([]sm, 1)}
	s.sms[0] = sm{stored: math.Inf(-1), l1: map[uint64]float64{}, maps: map[int32]bool{}}
	return s, &warp{sm: &s.sms[0], g: &group{}}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// TestSharedAccess wants an access to take a latency of 30 cycles and 2 for each further wavefront, and to keep
// shared memory busy for 2 cycles per wavefront, at least for 3.
func TestSharedAccess(t *testing.T) {
	s, w := memorySim(0)
	for _, c := range []struct {
		waves, joined int
		at, want      float64 // when it is issued, and when the result is there
	}{
		{1, 0, 10, 40},           // until 13 the memory is busy
		{4, 0, 11, 13 + 30 + 6},  // until 21
		{2, 8, 20, 21 + 30 + 14}, // 8 joined words: until 37
		{0, 0, 100, 130},
	} {
		got, why := s.access(w, &Op{cost: cost{kind: loads}, joined: c.joined}, &warptrace.Fact{Wavefronts: c.waves}, c.at, c.at)
		if !near(got, c.want) || why != SharedWait {
			t.Errorf("%+v: %v, %v", c, got, why)
		}
	}
	if !near(s.sharedBusy, 3+8+16+3) {
		t.Errorf("shared memory is busy for %v cycles", s.sharedBusy)
	}
	if got, why := s.access(w, &Op{}, nil, 7, 9); got != 9 || why != SharedWait {
		t.Errorf("an access that no lane made: %v, %v", got, why)
	}
	// Another SM: 128 bytes per wavefront at 32 per cycle, and 180 cycles.
	for _, c := range []struct {
		waves    int
		at, want float64
	}{{0, 50, 50 + 4 + 180}, {2, 51, 54 + 8 + 180}, {1, 100, 100 + 4 + 180}} {
		got, why := s.access(w, &Op{}, &warptrace.Fact{Remote: true, Wavefronts: c.waves}, c.at, c.at)
		if !near(got, c.want) || why != MemoryWait {
			t.Errorf("another SM, %+v: %v, %v", c, got, why)
		}
	}
}

// TestGlobalAccess follows loads, stores and atomics of 16 sectors, 512 bytes, which occupy the L1 for 4 cycles and
// the port to the L2 for 128.
func TestGlobalAccess(t *testing.T) {
	lines := []uint64{1, 2, 3, 4}
	f := &warptrace.Fact{Sectors: 16, Lines: lines}
	s, w := memorySim(0)
	got, why := s.access(w, &Op{cost: cost{kind: loads}}, f, 10, 10)
	if !near(got, 10+128+200) || why != MemoryWait || !near(s.globalBusy, 128) || !near(s.sharedBusy, 4) {
		t.Errorf("a load: %v, %v; the port is busy for %v cycles, the L1 for %v", got, why, s.globalBusy, s.sharedBusy)
	}
	// The first line is there after its own 32 cycles; until then, another load waits for it.
	if got, _ := s.access(w, &Op{cost: cost{kind: loads}}, &warptrace.Fact{Sectors: 4, Lines: lines[:1]}, 20, 20); !near(got, 10+32+200) {
		t.Errorf("a load of a line that is on its way: %v", got)
	}
	if got, _ := s.access(w, &Op{cost: cost{kind: loads}}, f, 1000, 1000); !near(got, 1000+40) {
		t.Errorf("a load from the L1: %v", got)
	}
	if got, _ := s.access(w, &Op{cost: cost{kind: loads, pastL1: true}}, f, 2000, 2000); !near(got, 2000+128+200) {
		t.Errorf("a load past the L1: %v", got)
	}
	if got, _ := s.access(w, &Op{cost: cost{kind: atomics}}, f, 3000, 3000); !near(got, 3000+128+300) {
		t.Errorf("an atomic: %v", got)
	}
	if got, _ := s.access(w, &Op{cost: cost{kind: stores}}, f, 4000, 4000); !near(got, 4000) || !near(s.end, 4000+64+200) {
		t.Errorf("a store: %v, the launch ends at %v", got, s.end)
	}
	if got, _ := s.access(w, &Op{cost: cost{kind: loads, pastL1: true}}, f, 4001, 4001); !near(got, 4004+128+200) {
		t.Errorf("a load beside a store, which uses another port: %v", got)
	}
	s.edit = &Edit{Early: IDs{5: true}}
	if got, _ := s.access(w, &Op{ID: 5, cost: cost{kind: loads, pastL1: true}}, f, 5000, 5000); !near(got, 5000+30) {
		t.Errorf("a load whose latency is hidden: %v", got)
	}
	if got, _ := s.access(w, &Op{ID: 5, cost: cost{kind: loads, pastL1: true}}, f, 5001, 5001); !near(got, 5000+128) {
		t.Errorf("a load whose latency is hidden, behind another one: %v", got)
	}
	s, w = memorySim(1)
	if got, _ := s.access(w, &Op{cost: cost{kind: loads}}, f, 10, 10); !near(got, 10+128+600) {
		t.Errorf("a load from DRAM: %v", got)
	}
	// A load without recorded lines still takes its latency.
	if got, _ := s.access(w, &Op{cost: cost{kind: loads}}, &warptrace.Fact{Sectors: 4}, 5000, 5000); !near(got, 5000+40) {
		t.Errorf("a load without lines: %v", got)
	}
}

// TestStores wants the L2 to take 1024 bytes as fast as the port gives them, and then 2 bytes per cycle. A pause of 512 cycles
// lets it take as many again.
func TestStores(t *testing.T) {
	s, w := memorySim(0)
	for _, c := range []struct{ at, bytes, want float64 }{
		{100, 512, 100 + 64}, {100, 512, 100 + 128}, {100, 512, 100 + 256}, {200, 64, 100 + 288},
		{2000, 1024, 2000 + 128}, {2000, 64, 2000 + 136}, {2128, 1024, 2000 + 544},
	} {
		if got := s.store(w.sm, c.at, c.bytes); !near(got, c.want) {
			t.Errorf("%+v: %v", c, got)
		}
	}
	if want := (512*3 + 64 + 1024 + 64 + 1024) / 8.0; !near(s.storeBusy, want) || s.globalBusy != 0 {
		t.Errorf("the port is busy for %v cycles, want %v; the port for loads for %v", s.storeBusy, want, s.globalBusy)
	}
}

// TestDRAMShare wants loads, copies and stores to share what DRAM delivers, and a read to have a part of its latency.
func TestDRAMShare(t *testing.T) {
	s, w := memorySim(0.25)
	s.plan.DRAMBytes = 1
	if got := s.store(w.sm, 0, 64); !near(got, 64) {
		t.Errorf("a store: %v", got)
	}
	if got := s.useL2(w.sm, 0, 64, true); !near(got, 128) {
		t.Errorf("a copy after it: %v", got)
	}
	if got := s.useL2(w.sm, 100, 64, false); !near(got, 192) {
		t.Errorf("a load after both: %v", got)
	}
	if got := s.farLatency(); !near(got, 200+100) {
		t.Errorf("the latency is %v", got)
	}
	s.plan.DRAMBytes = 0
	if got := s.useL2(w.sm, 1000, 64, false); !near(got, 1016) {
		t.Errorf("a load from the L2: %v", got)
	}
}

// TestFenceOfGPU wants a fence for other SMs to wait for the stores before it, and other fences not to.
func TestFenceOfGPU(t *testing.T) {
	for _, c := range []struct {
		latency, stored, want float64
		why                   Reason
		visible               bool
	}{{47, 0, 147, Barrier, true}, {47, 300, 500, MemoryWait, true}, {43, 300, 143, Barrier, false}} {
		s, w := memorySim(0)
		w.sm.taken, w.event = c.stored, &warptrace.Event{Fact: -1}
		s.execute(w, nil, &Op{cost: cost{kind: fences, latency: c.latency, visible: c.visible}}, 100)
		if !near(w.at, c.want) || w.reason != c.why {
			t.Errorf("%+v: until %v, %v", c, w.at, w.reason)
		}
	}
}

// TestStoresBeforeFence wants a fence for other SMs to wait until the L2 has the bytes of all stores, also those that the
// port has passed faster than the L2 takes them.
func TestStoresBeforeFence(t *testing.T) {
	s, w := memorySim(0)
	w.event = &warptrace.Event{Fact: -1}
	end := 0.0
	for range 100 {
		end = s.store(w.sm, 0, 1<<10)
	}
	s.execute(w, nil, &Op{cost: cost{kind: fences, latency: 47, visible: true}}, 10)
	if !near(w.at, end+s.rates.l2) || w.sm.stores >= end {
		t.Errorf("the port is free at %v, the L2 has all bytes at %v, and the fence ends at %v", w.sm.stores, end, w.at)
	}
}

// TestAcquire wants nothing to be in the L1 after an access that acquires.
func TestAcquire(t *testing.T) {
	for _, fresh := range []bool{false, true} {
		s, w := memorySim(0)
		w.event = &warptrace.Event{Fact: -1}
		w.sm.l1[5] = 1
		s.execute(w, nil, &Op{cost: cost{kind: atomics, fresh: fresh}}, 100)
		if empty := len(w.sm.l1) == 0; empty != fresh {
			t.Errorf("acquires: %v, the L1 is empty: %v", fresh, empty)
		}
	}
}

// TestAsyncCopies wants a copy to be complete when its lines are in shared memory.
func TestAsyncCopies(t *testing.T) {
	s, w := memorySim(0)
	o := &Op{cost: cost{kind: copies, pastL1: true}}
	s.asyncCopy(w, o, &warptrace.Fact{Wavefronts: 4, Sectors: 16, Lines: []uint64{1, 2, 3, 4}}, 10)
	if !near(w.copyEnd, 10+128+200+30) || !near(s.sharedBusy, 8) { // 4 wavefronts of 2 cycles
		t.Errorf("the copy ends at %v, shared memory is busy for %v cycles", w.copyEnd, s.sharedBusy)
	}
	s.asyncCopy(w, o, &warptrace.Fact{Wavefronts: 1, Sectors: 64, Lines: []uint64{5}}, 100)
	if !near(s.sharedBusy, 8+16) || !near(w.copyEnd, 138+512+200+30) { // 64 sectors, 4 per cycle; the port is free at 138
		t.Errorf("the second copy ends at %v, shared memory is busy for %v cycles", w.copyEnd, s.sharedBusy)
	}
	end := w.copyEnd
	if s.asyncCopy(w, o, nil, 9000); w.copyEnd != end {
		t.Error("a copy that no lane made has an end")
	}
}

// TestTransfers follows bulk copies of 800 bytes: 5 cycles to issue, 7 in the engine, 100 for the bytes, 200 to the
// L2 and 11 more, and 13 for a tensor map that the engine has not read yet.
func TestTransfers(t *testing.T) {
	s, w := memorySim(0)
	var seen works
	s.plan.Watch = &seen
	w.g.trace = &warptrace.Cluster{
		Works:  []warptrace.Work{{Bytes: 800, Sectors: 25, Phases: []int32{0}}, {Bytes: 800, Sectors: 25}, {Bytes: 64, Remote: true}, {Bytes: 80, Sectors: 2, Remote: true}},
		Phases: []warptrace.Phase{{Need: 2}},
	}
	w.g.phases = []phaseState{{need: 2}}
	first := 10 + 5 + 7 + 100 + 200 + 11.0
	s.transfer(w, &Op{tensorMap: 4}, &warptrace.Fact{Works: []int32{0}}, 10)
	if !near(w.bulkEnd, first+13) || w.g.phases[0].need != 1 || !near(w.g.phases[0].time, first+13) || !w.g.phases[0].copied {
		t.Errorf("the first copy ends at %v, want %v; its phase is %+v", w.bulkEnd, first+13, w.g.phases[0])
	}
	// The port is free for the second when the first has passed, at 122. The engine has read the map.
	s.transfer(w, &Op{tensorMap: 4}, &warptrace.Fact{Works: []int32{1}}, 11)
	if want := 122 + 100 + 200 + 11.0; !near(w.bulkEnd, want) {
		t.Errorf("the second copy ends at %v, want %v", w.bulkEnd, want)
	}
	// A store to another SM: 2 cycles for 64 bytes, and 180. It ends before the copies.
	s.transfer(w, &Op{tensorMap: -1}, &warptrace.Fact{Works: []int32{2}}, 20)
	// A copy from global memory into another SM comes from the L2: 10 cycles for 80 bytes.
	s.transfer(w, &Op{tensorMap: -1}, &warptrace.Fact{Works: []int32{3}}, 1000)
	want := works{first + 13, 433, 20 + 2 + 180, 1000 + 5 + 7 + 10 + 200 + 11}
	if len(seen) != len(want) {
		t.Fatalf("%v", seen)
	}
	for i := range want {
		if !near(seen[i], want[i]) {
			t.Errorf("copy %d ends at %v, want %v", i, seen[i], want[i])
		}
	}
	if s.transfer(w, &Op{}, nil, 9000); len(seen) != 4 {
		t.Error("a copy that no lane made has an end")
	}
	// Loads do not wait for copies, copies wait for loads.
	s, w = memorySim(0)
	if a, b, c := s.useL2(w.sm, 0, 800, true), s.useL2(w.sm, 0, 40, false), s.useL2(w.sm, 0, 8, true); !near(a, 100) || !near(b, 10) || !near(c, 111) {
		t.Errorf("a copy ends at %v, a load beside it at %v, another copy at %v", a, b, c)
	}
}

// works are the ends of copies.
type works []float64

func (*works) Issue(int, int, int, int32, float64, float64, Reason) {}
func (*works) Phase(int, *warptrace.Phase, float64)                 {}
func (*works) Block(int, int, float64, float64)                     {}
func (w *works) Work(_, _ int, _ int32, _, to float64)              { *w = append(*w, to) }
