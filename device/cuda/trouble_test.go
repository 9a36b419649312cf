package cuda

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device"
)

func TestFault(t *testing.T) {
	f := newFake()
	d := openFake(t, f, Options{})
	k := scaleOf(t, d)
	b, err := d.Alloc(16)
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := s.Launch(k, launchOf(1)); err != nil {
			t.Fatal(err)
		}
	}
	f.sticky.Store(700)
	err = s.Sync(t.Context())
	var le *LaunchError
	var ce *Error
	if !errors.As(err, &le) || le.Kernel != "scale" || le.Others != 2 || !errors.As(err, &ce) || ce.Name != "CUDA_ERROR_ILLEGAL_ADDRESS" || !errors.Is(err, device.ErrLost) {
		t.Fatalf("%v", err)
	}
	for _, part := range []string{"one of 3 launches", "scale", "grid (4, 2, 1)", "context is lost"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in %v", part, err)
		}
	}
	f.sticky.Store(0) // the error must stay even if the driver forgets the fault
	if err := b.Write(0, make([]byte, 4)); !errors.Is(err, device.ErrLost) {
		t.Errorf("after a fault: %v", err)
	}
	if err := k.Launch(t.Context(), launchOf(1)); !errors.Is(err, device.ErrLost) {
		t.Errorf("after a fault: %v", err)
	}
	if err := d.Close(); err != nil || f.retained.Load() != 0 {
		t.Errorf("closing: %v, the context is held %d times", err, f.retained.Load())
	}
}

// TestAccused checks that a fault which another call returns names the launches that may have
// caused it.
func TestAccused(t *testing.T) {
	for _, how := range []string{"read", "launch", "run", "replay"} {
		f := newFake()
		d := openFake(t, f, Options{})
		k := scaleOf(t, d)
		b, err := d.Alloc(16)
		if err != nil {
			t.Fatal(err)
		}
		s, other := mustStream(t, d), mustStream(t, d)
		g, err := d.NewGraph(func(s device.Stream) error { return s.Launch(k, launchOf(2)) })
		if err != nil {
			t.Fatal(err)
		}
		l := launchOf(1)
		l.Grid = device.D(77)
		if err := s.Launch(k, l); err != nil {
			t.Fatal(err)
		}
		f.sticky.Store(700)
		others := 0
		switch how {
		case "read":
			err = b.Read(0, make([]byte, 4))
		case "launch":
			err = other.Launch(k, launchOf(1))
		case "run":
			f.launchKernelEx = func(*launchCall) result { return success }
			f.eventRecord = func(uintptr, uintptr) result { return success }
			err = k.Launch(t.Context(), l)
			others = 1 // this launch or the launch in the stream
		case "replay":
			err = g.Replay(other)
		}
		var le *LaunchError
		if !errors.As(err, &le) || le.Launch.Grid != device.D(77) || le.Others != others || !errors.Is(err, device.ErrLost) {
			t.Errorf("%s: %v", how, err)
		}
		if n := strings.Count(err.Error(), "scale"); n != 1 {
			t.Errorf("%s: named %d times: %v", how, n, err)
		}
		if _, err := d.Alloc(4); !errors.Is(err, device.ErrLost) || !strings.Contains(err.Error(), "scale, grid (77, 1, 1)") {
			t.Errorf("%s: afterwards: %v", how, err)
		}
	}
}

func mustStream(t testing.TB, d *Device) device.Stream {
	t.Helper()
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestHang checks that the wait for a kernel that does not end stops, and that later calls do
// not block.
func TestHang(t *testing.T) {
	f := newFake()
	d := openFake(t, f, Options{})
	k := scaleOf(t, d)
	f.busy.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	err := k.Launch(ctx, launchOf(1))
	if !errors.Is(err, device.ErrRunning) || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "scale has not ended") {
		t.Fatal(err)
	}
	if _, err := d.Alloc(4); !errors.Is(err, device.ErrRunning) {
		t.Errorf("while it runs: %v", err)
	}
	if _, err := f.open(0, Options{}); !errors.Is(err, device.ErrRunning) {
		t.Errorf("while it runs: %v", err)
	}
	f.busy.Store(false)
	if _, err := d.Alloc(4); err != nil {
		t.Errorf("once it has ended: %v", err)
	}
	f.busy.Store(true)
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Launch(k, launchOf(1)); err != nil {
		t.Fatal(err)
	}
	if done, err := s.Done(); done || err != nil {
		t.Errorf("%v, %v", done, err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if err := s.Sync(ctx); !errors.Is(err, device.ErrRunning) || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := d.Close(); !errors.Is(err, device.ErrRunning) {
		t.Errorf("closing: %v", err)
	}
}
