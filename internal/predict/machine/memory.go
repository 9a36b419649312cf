package machine

import "github.com/GOATnote-Inc/attest/internal/predict/warptrace"

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
		start := max(t, m.shared)
		m.shared = start + max(r.memorySM, float64(f.Wavefronts)*r.wavefront)
		extra := float64(max(f.Wavefronts-1, 0))
		return start + r.shared + extra*r.wavefront, SharedWait
	}
	start := max(t, m.shared)
	m.shared = start + max(r.memorySM, float64(f.Sectors)/4)
	if o.cost.kind == stores {
		m.l2 = max(m.l2, start) + float64(f.Sectors)*sectorBytes/s.plan.L2Bytes
		s.end = max(s.end, m.l2)
		return start, MemoryWait
	}
	if o.cost.kind == atomics {
		m.l2 = max(m.l2, start) + float64(f.Sectors)*sectorBytes/s.plan.L2Bytes
		return m.l2 + r.atomic, MemoryWait
	}
	return s.load(w, f, start), MemoryWait
}

// load returns when the lines of a load are there. The L1 has no capacity limit: the kernels of
// interest read little through it.
func (s *sim) load(w *warp, f *warptrace.Fact, start float64) float64 {
	m, r := w.sm, s.rates
	there := start + r.l1
	bytes := float64(f.Sectors) * sectorBytes / float64(max(len(f.Lines), 1))
	for _, line := range f.Lines {
		filled, ok := m.l1[line]
		if !ok {
			m.l2 = max(m.l2, start) + bytes/s.plan.L2Bytes
			filled = m.l2 + r.l2
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
	m := w.sm
	start := max(t, m.shared)
	m.shared = start + max(s.rates.memorySM, float64(f.Wavefronts)*s.rates.wavefront, float64(f.Sectors)/4)
	w.copyEnd = max(w.copyEnd, s.load(w, f, start)+s.rates.shared)
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
			m.l2 = max(m.l2, m.tma) + float64(work.Bytes)/s.plan.L2Bytes
			at = m.l2 + r.l2 + r.tma
		}
		w.bulkEnd = max(w.bulkEnd, at)
		for _, p := range work.Phases {
			s.contribute(w.g, p, 1, at, true)
		}
	}
}
