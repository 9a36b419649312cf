package ordered

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
)

// Map calls work for 0 to n-1, several at once, and emit with each result, in
// order and never two at once. It stops early when ctx is cancelled and returns
// its error. At most as many results as there are cores wait for their turn, so
// memory does not grow with n. A panic of work becomes a panic of Map, so that the
// caller can recover from it.
func Map[T any](ctx context.Context, n int, work func(i int) T, emit func(i int, result T)) error {
	type outcome struct {
		value    T
		panicked any
	}
	try := func(i int) (o outcome) {
		defer func() {
			if r := recover(); r != nil {
				o.panicked = fmt.Sprintf("%v\n%s", r, debug.Stack())
			}
		}()
		return outcome{value: work(i)}
	}
	ready := make(chan chan outcome, max(runtime.GOMAXPROCS(0)-1, 0))
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		defer close(ready)
		for i := range n {
			result := make(chan outcome, 1)
			select {
			case ready <- result:
				go func() { result <- try(i) }()
			case <-stop:
				return
			}
		}
	}()
	i := 0
	for result := range ready {
		select {
		case r := <-result:
			if r.panicked != nil {
				panic(r.panicked)
			}
			emit(i, r.value)
		case <-ctx.Done():
			return ctx.Err()
		}
		i++
	}
	return ctx.Err()
}
