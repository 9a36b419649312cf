package timing

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device"
)

// steady is a candidate of 10 launches per sample, and the sensor of its GPU, which consumes 2 J per
// launch and 100 s of time per sample.
type steady struct {
	Candidate
	at       time.Time
	joules   float64
	each     float64 // joules per launch
	warm     bool
	sampling error
}

func (c *steady) Method() Method { return Method{Mode: Graph, Launches: 10} }

func (c *steady) WarmUp(_ context.Context, d time.Duration) error {
	c.warm = d > 0
	c.joules += 1000 // the energy of the warm-up does not count
	return nil
}

func (c *steady) Sample(_ context.Context, n int) ([]float64, error) {
	time.Sleep(time.Millisecond)
	c.at = c.at.Add(time.Duration(n) * 100 * time.Second)
	c.joules += c.each * float64(10*n)
	return make([]float64, n), c.sampling
}

func (c *steady) State() (device.State, error) {
	return device.State{Time: c.at, Energy: c.joules}, nil
}

func TestConsume(t *testing.T) {
	c := &steady{at: time.Unix(1000, 0), each: 2}
	e, err := Consume(t.Context(), c, c, 5*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if !c.warm || e.Launches < 50 || e.Launches%50 != 0 || !(math.Abs(e.PerLaunch()-2) <= 1e-9) || !(math.Abs(e.Watts()-0.2) <= 1e-9) {
		t.Errorf("%+v: %g J per launch, %g W", e, e.PerLaunch(), e.Watts())
	}
}

func TestConsumeRefuses(t *testing.T) {
	silent := &steady{at: time.Unix(1000, 0)}
	if _, err := Consume(t.Context(), silent, silent, time.Millisecond); err == nil || !strings.Contains(err.Error(), "measure for longer") {
		t.Errorf("a counter that stands still: %v", err)
	}
	none := &steady{at: time.Unix(1000, 0), joules: -1000}
	if _, err := Consume(t.Context(), none, none, time.Millisecond); err == nil || !strings.Contains(err.Error(), "no energy counter") {
		t.Errorf("no counter: %v", err)
	}
	broken := &steady{at: time.Unix(1000, 0), each: 2, sampling: errors.New("lost")}
	if _, err := Consume(t.Context(), broken, broken, time.Millisecond); !errors.Is(err, broken.sampling) {
		t.Errorf("a launch that fails: %v", err)
	}
}
