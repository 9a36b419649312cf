package replicate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
)

// TestMain lets this program be the other process, too.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == Command {
		if err := Serve(context.Background(), os.Stdin, "standard input", os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "attest:", err)
			os.Exit(misuse)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func job(t *testing.T) Job {
	t.Helper()
	s, err := lab.Preset("stage3b", problem.Attention{}, kernel.Chip{})
	if err != nil {
		t.Fatal(err)
	}
	return Job{Device: "emu", Kernel: Contract(s), Shapes: []problem.Named{{Shape: problem.Square(1, 1, 64, 64)}}}
}

// TestPool sends several jobs to one process, and goes on after a job that crashed it.
func TestPool(t *testing.T) {
	pool := &Pool{}
	defer pool.Close()
	good := job(t)
	for range 2 {
		p, err := pool.Time(t.Context(), 1, good)
		if err != nil || !strings.Contains(p.Skipped, "no GPU") {
			t.Fatalf("%+v, %v", p, err)
		}
	}
	if len(pool.workers) != 1 {
		t.Errorf("%d processes", len(pool.workers))
	}
	if _, err := pool.Time(t.Context(), 1, Job{Device: "emu"}); err == nil || !strings.Contains(err.Error(), "panic") {
		t.Errorf("a job without a kernel: %v", err)
	}
	if _, err := pool.Time(t.Context(), 1, Job{Device: "nowhere", Kernel: good.Kernel}); err == nil || strings.Contains(err.Error(), "panic") {
		t.Errorf("a device that does not exist: %v", err)
	}
	if _, err := pool.Time(t.Context(), 1, good); err != nil {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := pool.Time(ended, 2, good); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestMeasureElsewhere measures a kernel in another process, and tells a crash from a record.
func TestMeasureElsewhere(t *testing.T) {
	j := job(t)
	j.Plan = &lab.Plan{Cases: []lab.Case{{Shape: problem.Square(1, 1, 33, 64), Seed: 1, Distribution: "normal"}}}
	sections := 0
	r, err := MeasureElsewhere(t.Context(), j, Limits{}, func(lab.Progress) { sections++ })
	if err != nil || len(r.Correctness.Cases) != 1 || sections == 0 {
		t.Fatalf("%+v, %d, %v", r, sections, err)
	}
	j.Kernel = nil
	// A limit that is over before the process starts is a verdict too.
	_, err = MeasureElsewhere(t.Context(), j, Limits{Time: 1}, nil)
	if ended := (*Ended)(nil); !errors.As(err, &ended) || !strings.Contains(ended.Why, "the limit of --timeout") {
		t.Errorf("a limit of 1 ns: %v", err)
	}
	_, err = MeasureElsewhere(t.Context(), j, Limits{}, nil)
	var ended *Ended
	if !errors.As(err, &ended) || !strings.Contains(ended.Why, "crashed") || !strings.Contains(ended.Why, "panic") {
		t.Errorf("%v", err)
	}
}
