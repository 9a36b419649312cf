package ordered

import (
	"context"
	"runtime"
)

// Map calls work for 0 to n-1, several at once, and emit with each result, in
// order and never two at once. It stops early when ctx is cancelled and returns
// its error. At most as many results as there are cores wait for their turn, so
// memory does not grow with n.
func Map[T any](ctx context.Context, n int, work func(i int) T, emit func(i int, result T)) error {
	ready := make(chan chan T, max(runtime.GOMAXPROCS(0)-1, 0))
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		defer close(ready)
		for i := range n {
			result := make(chan T, 1)
			select {
			case ready <- result:
				go func() { result <- work(i) }()
			case <-stop:
				return
			}
		}
	}()
	i := 0
	for result := range ready {
		select {
		case r := <-result:
			emit(i, r)
		case <-ctx.Done():
			return ctx.Err()
		}
		i++
	}
	return ctx.Err()
}
