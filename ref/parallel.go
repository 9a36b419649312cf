package ref

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// parallel calls a function n times on all cores, in no particular order.
func parallel(n int, do func(i int)) { parallelIn(n, n, do) }

// parallelIn is parallel with at most some calls at a time, but at least one.
func parallelIn(n, most int, do func(i int)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(n, max(most, 1), runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wait.Wait()
}
