package emu

// barrier is one of the sixteen named barriers of a block.
type barrier struct {
	count    int      // threads that have arrived
	need     int      // threads it waits for; 0 for all of the block
	arrived  []uint32 // by warp: lanes that wait here
	released []uint32 // by warp: lanes that may go on
}

// clusterBarrier is the barrier of a cluster.
type clusterBarrier struct{}

// asyncState is the asynchronous work of a block.
type asyncState struct{}

// progress carries out asynchronous work when no thread can go on without it.
func (c *cluster) progress() bool { return false }
