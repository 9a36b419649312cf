package ordered

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestMapKeepsOrder(t *testing.T) {
	const n = 200
	var got []int
	err := Map(t.Context(), n, func(i int) int {
		time.Sleep(time.Duration(n-i) * 5 * time.Microsecond) // later work ends earlier
		return i * i
	}, func(i, result int) {
		if result != i*i {
			t.Errorf("result %d is %d, want %d", i, result, i*i)
		}
		got = append(got, i)
	})
	if err != nil || len(got) != n {
		t.Fatalf("got %d results and error %v, want %d and none", len(got), err, n)
	}
	for i, v := range got {
		if i != v {
			t.Fatalf("result %d came in place %d", v, i)
		}
	}
}

func TestMapBoundsWork(t *testing.T) {
	var running, peak atomic.Int64
	Map(t.Context(), 100, func(int) int {
		now := running.Add(1)
		for old := peak.Load(); now > old && !peak.CompareAndSwap(old, now); old = peak.Load() {
		}
		time.Sleep(100 * time.Microsecond)
		running.Add(-1)
		return 0
	}, func(int, int) {})
	if most := int64(runtime.GOMAXPROCS(0)); peak.Load() > most {
		t.Errorf("%d pieces of work ran at once, want at most %d", peak.Load(), most)
	}
}

func TestMapStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	emitted := 0
	err := Map(ctx, 1000, func(i int) int { return i }, func(i, _ int) {
		emitted++
		if i == 3 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want context.Canceled", err)
	}
	if emitted == 1000 {
		t.Error("work went on after it was cancelled")
	}
}

func TestMapDoesNotWaitForStuckWork(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	release := make(chan struct{})
	defer close(release)
	err := Map(ctx, 1, func(int) int { <-release; return 0 }, func(int, int) { t.Error("emitted") })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v, want context.DeadlineExceeded", err)
	}
}

func TestMapPanics(t *testing.T) {
	defer func() {
		if r, ok := recover().(string); !ok || !strings.Contains(r, "this work") || !strings.Contains(r, "ordered_test.go") {
			t.Errorf("recovered %v", r)
		}
	}()
	Map(t.Context(), 3, func(int) int { panic("this work") }, func(int, int) {})
}
