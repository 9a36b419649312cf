package machine

// beside is how far a cluster may be from another whose results it counts. Blocks that share the work of an item are
// neighbours, and more of them than this would not pay.
const beside = 8

// selection returns the clusters of a serial launch that run, in order.
//
// Blocks that count each other need those that share their work, or none of them would be the last one. These are neighbours
// in x, or differ in y and z only. Blocks that may wait for each other all run.
func (l *launch) selection(count int) (list []int) {
	runs := func(int) bool { return true }
	if l.Only != nil && !l.kernel.Entry.Waits && !l.Cooperative {
		runs = l.neighbours(count)
	}
	for i := range count {
		if runs(i) {
			list = append(list, i)
		}
	}
	return list
}

// neighbours returns which clusters are selected or beside a selected one.
func (l *launch) neighbours(count int) func(i int) bool {
	columns := l.Grid.X / l.Cluster.X
	near, same := make([]bool, count), make([]bool, columns)
	for i := range count {
		if !l.Only(i, count) {
			continue
		}
		x := i % columns
		same[x] = true
		for j := max(i-beside, i-x); j <= min(i+beside, i-x+columns-1); j++ {
			near[j] = true
		}
	}
	return func(i int) bool { return near[i] || same[i%columns] }
}
