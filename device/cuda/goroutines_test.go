package cuda

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device"
)

// TestManyGoroutines uses all objects from many goroutines, for the race detector, and checks
// that everything is freed.
func TestManyGoroutines(t *testing.T) {
	f := newFake()
	d := openFake(t, f, Options{CacheDir: t.TempDir()})
	shared := scaleOf(t, d)
	stream, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	const workers, rounds = 16, 40
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range rounds {
				if err := exercise(d, stream, shared, uint32(w*rounds+i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := f.launched.Load(); got != workers*rounds*4 {
		t.Errorf("%d launches, want %d", got, workers*rounds*4)
	}
	if err := stream.Close(); err != nil {
		t.Error(err)
	}
	f.mu.Lock()
	clear(f.modules) // the shared module is still open
	f.mu.Unlock()
	if live := f.live(); live != nothingLive {
		t.Error(live)
	}
	if n := len(f.events); n > workers+1 {
		t.Errorf("%d events for %d simultaneous waits", n, workers)
	}
	if err := d.Close(); err != nil || f.retained.Load() != 0 {
		t.Error(err, f.retained.Load())
	}
}

// exercise creates one object of each kind, uses it and frees it.
func exercise(d *Device, common device.Stream, shared *kernel, i uint32) error {
	var errs []error
	check := func(err error) { errs = append(errs, err) }
	m, err := d.LoadWith("scale.ptx", kernelText, JIT{Relocatable: i%2 == 0})
	if err != nil {
		return err
	}
	k, err := m.Kernel("scale")
	check(err)
	s, err := d.NewStream()
	check(err)
	b, err := d.Alloc(4)
	check(err)
	h, err := d.AllocHost(4)
	check(err)
	start, err := d.NewEvent()
	check(err)
	end, err := d.NewEvent()
	check(err)
	if err := errors.Join(errs...); err != nil {
		return err
	}
	g, err := d.NewGraph(func(s device.Stream) error { return s.Launch(k, launchOf(i)) })
	check(err)
	l := launchOf(i)
	l.Shared = 50000 + int(i)
	binary.LittleEndian.PutUint32(h.Bytes(), i)
	for _, err := range []error{
		s.Record(start), s.Write(b, 0, h.Bytes()), s.Launch(k, l), g.Replay(s), common.Launch(shared, l), shared.Launch(context.Background(), l),
		s.Record(end), s.Wait(end), end.Sync(context.Background()), s.Sync(context.Background()),
	} {
		check(err)
	}
	got := make([]byte, 4)
	check(b.Read(0, got))
	if !bytes.Equal(got, h.Bytes()) {
		check(errors.New("read back something else"))
	}
	took, err := end.Since(start)
	check(err)
	if took != 250*time.Microsecond {
		check(errors.New("the time is " + took.String()))
	}
	for _, err := range []error{start.Close(), end.Close(), g.Close(), s.Close(), b.Free(), h.Free(), m.Close()} {
		check(err)
	}
	return errors.Join(errs...)
}
