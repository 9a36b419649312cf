package machine

// hold makes the warps execute the instructions of a line as late as possible: a warp waits there
// until no other warp of its cluster can continue and no copy is outstanding. If the synchronisation
// does not force the other warps to wait for the instruction, they overtake it.
func (l *launch) hold() {
	if l.Hold == 0 {
		return
	}
	fn := *l.kernel.Entry
	fn.Code = append([]Op(nil), fn.Code...)
	for i := range fn.Code {
		if o := &fn.Code[i]; o.Inst != nil && int(o.Inst.Pos.Line) == l.Hold {
			o.heldKind, o.Kind = o.Kind, opHeld
		}
	}
	k := *l.kernel
	k.Entry = &fn
	l.kernel = &k
}

// heldAt lets the current split wait at the held instruction o, or execute it.
func (w *Warp) heldAt(o *Op, m uint32) outcome {
	s := &w.splits[w.cur]
	if !w.mayPass {
		if s.wait = true; !w.held {
			w.held = true
			w.b.Cluster.held = append(w.b.Cluster.held, w)
		}
		return ranOut
	}
	w.mayPass = false
	kind := o.heldKind
	if kind == opWatched {
		kind = o.announceStep(s.f, m)
	}
	switch {
	case kind == opRun:
		if m != 0 {
			o.Run(s.f, m)
		}
		s.pc++
	case kind == OpBra && m == 0:
		s.pc++
	case kind == OpBra && m == s.mask:
		s.pc = o.Target
	default:
		return w.special(kind, o, m)
	}
	return ranOut
}

// passHeld lets one warp continue that waits at the held instruction, the one that has waited for
// longest. It reports whether there is one.
func (c *cluster) passHeld() bool {
	c.heldRounds = 0
	if len(c.held) == 0 {
		return false
	}
	w := c.held[0]
	c.held = c.held[1:]
	w.held, w.mayPass = false, true
	w.wake()
	return true
}
