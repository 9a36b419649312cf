package machine

// clusterLanes is the state of the threads of a warp at the barrier of the cluster.
type clusterLanes struct {
	Arrived uint32 // arrived in this phase
	Passed  uint32 // arrived in a phase that is complete, and have not waited yet
}

// Settle completes the phase of the cluster's barrier when every thread that has not ended
// has arrived.
func (c *cluster) Settle() {
	for _, b := range c.Blocks {
		for _, w := range b.Warps {
			if w.Lanes&^w.Exited&^w.Async.Cluster.Arrived != 0 {
				return
			}
		}
	}
	for _, b := range c.Blocks {
		for _, w := range b.Warps {
			l := &w.Async.Cluster
			l.Passed, l.Arrived = l.Arrived, 0
		}
	}
	c.announceOpen()
	c.changed()
}
