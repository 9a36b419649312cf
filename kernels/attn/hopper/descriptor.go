package hopper

import (
	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/kernels/attn/part"
)

// A descriptor is what the loading warp tells the other warps about an item, in four words of
// shared memory: the head of Q, the first row, c (the factor of the scores) and vs (the factor of
// the output). There is one for each slot of Q, and the barriers of the slot guard both: a slot is
// full when the queries have arrived and the descriptor is written.
const (
	descriptorWords = 4
	descriptorBytes = 4 * descriptorWords
	// noItem as the head says that all items are done.
	noItem = 0xffffffff
)

// descriptors returns how many descriptors a block has.
func (c Config) descriptors(d int) int {
	if !c.Descriptors {
		return 0
	}
	return c.slots(ringQ, d)
}

// descriptor returns the descriptor of a slot of Q.
func (g *gen) descriptor(slot build.U32) build.Shared[build.B32] {
	return build.SharedAs[build.B32](g.mem, g.plan.descriptors).At(slot.MulLo(descriptorWords))
}

// eachItem runs body for each item of the block, in a warp that does not load.
func (g *gen) eachItem(body func(part.Item)) {
	if !g.c.Descriptors {
		g.work.Each(body)
		return
	}
	g.work.EachGiven(func(n build.U32) (head, row0 build.U32, more build.Pred) {
		words := g.descriptor(g.ringQ.ConsumerAt(n).Wait()).LdV4()
		g.given = build.Cast[build.F32](words[2])
		head = g.uniform(build.Cast[build.U32](words[0]))
		return head, g.uniform(build.Cast[build.U32](words[1])), head.SetpNe(noItem)
	}, body)
}

// logitFactor returns c for an item.
func (g *gen) logitFactor(it part.Item) build.F32 {
	if g.c.Descriptors {
		return g.given
	}
	return g.scales.Logit(it.Head)
}

// valueFactor returns vs of an item whose slot of Q is not free yet.
func (g *gen) valueFactor(it part.Item) build.F32 {
	return build.Cast[build.F32](g.descriptor(g.ringQ.ConsumerAt(it.Number).Slot()).Plus(3).Ld())
}

// describe reads the scales of an item and returns a function that writes the descriptor into the
// current slot of Q. The caller starts copies in between, which hide the latency of the reads.
func (c copies) describe(it part.Item) (write func()) {
	g := c.g
	logit, value := g.scales.Logit(it.Head), g.scales.Value(it.Head)
	return func() { c.writeDescriptor(it.Head, it.Row0, logit, value) }
}

// writeDescriptor writes the descriptor of the current slot of Q and moves on to the next slot.
func (c copies) writeDescriptor(head, row0 build.U32, logit, value build.F32) {
	g := c.g
	to := g.descriptor(c.q.Slot())
	g.k.If(g.wg.Warp.One(), func() {
		to.StV4([descriptorWords]build.B32{build.Cast[build.B32](head), build.Cast[build.B32](row0), build.Cast[build.B32](logit), build.Cast[build.B32](value)})
	})
	c.q.Signal(g.wg.Warp)
	c.q.Next()
}

// endItems tells the other warps that all items are done. The slot has no queries, so the loading
// warp also arrives in the place of their copy.
func (c copies) endItems() {
	k := c.g.k
	c.q.Wait()
	c.q.Signal(c.g.wg.Warp)
	c.writeDescriptor(k.U32(noItem), k.U32(0), k.F32(0), k.F32(0))
}
