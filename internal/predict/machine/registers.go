package machine

// portReads is the number of operands that the register file of a sub-core delivers per cycle: it
// has two banks with one port each.
const portReads = 2

// portSlack is the number of cycles by which operands may lag behind the issue of an operation:
// arithmetic reads its operands in a window of three cycles.
const portSlack = 2

// readRegisters occupies the ports of the register file for the operands of an operation. An operand
// that the warp's operation before has read in the same place is in the operand cache.
func (s *sim) readRegisters(c *core, w *warp, t float64) {
	o, before := w.op, w.before
	w.before = o
	if w.event.Off {
		return
	}
	reads := 0
	for i, r := range o.operands {
		if r < 0 || before != nil && i < len(before.operands) && before.operands[i] == r {
			continue
		}
		reads++
		for _, same := range o.operands[:i] {
			if same == r {
				reads--
				break
			}
		}
	}
	c.deliver(t, float64(reads)/portReads, s.rates.wgmmaPorts)
}

// deliver occupies the ports of the register file for a number of cycles from time t on. While the
// tensor core computes a wgmma, it takes a share of the ports for the accumulators.
func (c *core) deliver(t, cycles, share float64) {
	start := max(c.ports, t)
	if beside := c.tensor - start; beside > 0 {
		free := beside * (1 - share)
		if cycles <= free {
			c.ports = start + cycles/(1-share)
			return
		}
		start, cycles = c.tensor, cycles-free
	}
	c.ports = start + cycles
}
