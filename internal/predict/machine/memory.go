package machine

import "github.com/GOATnote-Inc/attest/internal/predict/warptrace"

// useShared occupies the shared memory and the L1 of an SM from time t on. It returns when the access starts. Accesses
// of threads do not wait for tensor cores, which then find less of the rate for their factors.
func (s *sim) useShared(m *sm, t, cycles float64) float64 {
	start := max(t, m.shared)
	m.banks.reserve(start, cycles)
	m.shared = start + cycles
	s.sharedBusy += cycles
	return start
}

// sharedBytes is the number of bytes that shared memory reads or writes per cycle.
const sharedBytes = 128

// useL2 occupies the port of an SM from the L2 from time t on. It returns when the last byte has
// passed. Loads of threads do not wait for bulk copies that were issued earlier, because the port
// alternates between the two.
func (s *sim) useL2(m *sm, t, bytes float64, bulk bool) float64 {
	cycles := bytes / s.plan.L2Bytes
	if bulk {
		cycles = bytes / s.plan.BulkBytes
	}
	s.globalBusy += cycles
	dram := s.useDRAM(m, t, bytes)
	if bulk {
		m.bulk = max(m.bulk, m.l2, t) + cycles
		return max(m.bulk, dram)
	}
	m.l2 = max(m.l2, t) + cycles
	m.bulk += cycles
	return max(m.l2, dram)
}

// store occupies the port of an SM to the L2 from time t on, and returns when the L2 has the last byte. What comes from the
// L2 goes through another port. The L2 takes a burst as fast as the port does.
func (s *sim) store(m *sm, t, bytes float64) float64 {
	r := s.rates
	s.storeBusy += bytes / r.storePort
	m.stores = max(m.stores, t) + bytes/r.storePort
	m.stored = max(m.stored, t-r.storeBurst/s.plan.StoreBytes) + bytes/s.plan.StoreBytes
	m.taken = max(m.stores, m.stored, s.useDRAM(m, t, bytes))
	return m.taken
}

// useDRAM occupies the SM's share of DRAM from time t on, for bytes in either direction. It returns when the last byte has
// passed.
func (s *sim) useDRAM(m *sm, t, bytes float64) float64 {
	if s.plan.DRAMBytes > 0 {
		m.dram = max(m.dram, t) + bytes/s.plan.DRAMBytes
	}
	return m.dram
}

// farLatency is the latency of a read that misses in the L1.
func (s *sim) farLatency() float64 {
	return s.rates.l2 + s.plan.Misses*(s.rates.dram-s.rates.l2)
}

// sectorBytes is the unit in which global memory moves.
const sectorBytes = 32

// access executes a load, a store or an atomic of threads. It returns when its results are ready
// and what a reader waits for.
func (s *sim) access(w *warp, o *Op, f *warptrace.Fact, t, at float64) (float64, Reason) {
	if f == nil {
		return at, SharedWait
	}
	m, r := w.sm, s.rates
	switch {
	case f.Remote:
		m.dsmem = max(m.dsmem, t) + float64(max(f.Wavefronts, 1))*128/r.dsmemBytes
		return m.dsmem + r.dsmem, MemoryWait
	case f.Sectors == 0:
		waves := max(f.Wavefronts, o.joined)
		start := s.useShared(m, t, max(r.memorySM, float64(waves)*r.wavefront))
		extra := float64(max(waves-1, 0))
		return start + r.shared + extra*r.wavefront, SharedWait
	}
	start := s.useShared(m, t, max(r.memorySM, float64(f.Sectors)/4))
	if o.cost.kind == stores {
		// The launch ends when the L2 has acknowledged the last store.
		s.end = max(s.end, s.store(m, start, float64(f.Sectors)*sectorBytes)+r.l2)
		return start, MemoryWait
	}
	if o.cost.kind == atomics {
		return s.useL2(m, start, float64(f.Sectors)*sectorBytes, false) + r.atomic, MemoryWait
	}
	there := s.load(w, o, f, start)
	if s.edit.Early[o.ID] {
		// The load started earlier by its latency and the time of its bytes. It still waits for the bytes of others.
		own := float64(f.Sectors) * sectorBytes / s.plan.L2Bytes
		there = max(there-s.farLatency()-own, start+r.shared)
	}
	return there, MemoryWait
}

// load returns when the lines of a load are there. The L1 has no capacity limit: the kernels of
// interest read little through it.
func (s *sim) load(w *warp, o *Op, f *warptrace.Fact, start float64) float64 {
	m, r := w.sm, s.rates
	there := start + r.l1
	bytes := float64(f.Sectors) * sectorBytes / float64(max(len(f.Lines), 1))
	for _, line := range f.Lines {
		filled, ok := m.l1[line]
		if !ok || o.cost.pastL1 {
			filled = s.useL2(m, start, bytes, false) + s.farLatency()
		}
		if !o.cost.pastL1 {
			m.l1[line] = filled
		}
		there = max(there, filled)
	}
	return there
}

// asyncCopy executes cp.async.
func (s *sim) asyncCopy(w *warp, o *Op, f *warptrace.Fact, t float64) {
	if f == nil {
		return
	}
	start := s.useShared(w.sm, t, max(s.rates.memorySM, float64(f.Wavefronts)*s.rates.wavefront, float64(f.Sectors)/4))
	w.copyEnd = max(w.copyEnd, s.load(w, o, f, start)+s.rates.shared)
}

// transfer executes a copy by the copy engine, or a store to another SM, that mbarriers count.
func (s *sim) transfer(w *warp, o *Op, f *warptrace.Fact, t float64) {
	if f == nil {
		return
	}
	m, r := w.sm, s.rates
	for _, id := range f.Works {
		work := &w.g.trace.Works[id]
		var at float64
		if work.Remote && work.Sectors == 0 {
			m.dsmem = max(m.dsmem, t) + float64(work.Bytes)/r.dsmemBytes
			at = m.dsmem + r.dsmem
		} else {
			m.tma = max(m.tma, t+r.tmaIssue) + r.tmaEngine
			at = s.useL2(m, m.tma, float64(work.Bytes), true) + s.farLatency() + r.tma
			// The copy writes shared memory while its bytes come in.
			cycles := float64(work.Bytes) / sharedBytes
			s.sharedBusy += cycles
			m.banks.reserve(at-cycles, cycles)
			if o.tensorMap >= 0 && !m.maps[o.tensorMap] {
				m.maps[o.tensorMap] = true
				at += r.tensorMap
			}
		}
		w.bulkEnd = max(w.bulkEnd, at)
		s.watchWork(w, o, t, at)
		for _, p := range work.Phases {
			s.contribute(w.g, p, 1, at, true)
		}
	}
}
