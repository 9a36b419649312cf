package hopper

import "attest/build"

// The first tiles on their way before anything else: the thread that makes the barriers
// is the one that starts copies, so it needs to wait for nobody. Keys come before values,
// which are multiplied last.

// first is how many tiles of K and V have room at once.
func (c Config) first() int { return min(c.slots(ringK), c.slots(ringRaw)) }

// loadFirst starts the copies of the block's queries and of its first tiles. All slots
// are empty.
func (g *gen) loadFirst() {
	k := g.k
	c := g.newCopies()
	g.eachItem(func(it item) {
		c.queries(it, k.U32(0))
		for _, bring := range []func(item, build.U32, build.U32){c.keys, c.values} {
			for i := range g.c.first() {
				n := k.U32(uint32(i))
				k.If(n.SetpLt(it.tiles), func() { bring(it, g.tileAt(it, n), n) })
			}
		}
	})
}

// skipFirst goes on to the slots after those of loadFirst, and says how many tiles it
// brought.
func (g *gen) skipFirst(c copies) int {
	c.q.Next()
	for range g.c.first() {
		c.k.Next()
		c.raw.Next()
	}
	return g.c.first()
}
