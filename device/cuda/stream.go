package cuda

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/GOATnote-Inc/attest/device"
)

// stream is a CUDA stream. It synchronises with the null stream, which calls outside
// streams use.
type stream struct {
	d         *Device
	handle    uintptr
	capturing bool

	mu       sync.Mutex
	last     *kernel
	launch   device.Launch // the launch that last belongs to
	launches int           // number of launches that may not have ended
	copyData [][]byte      // host memory of copies that may not have ended, so that it is not collected
	queued   int           // number of launches and copies since the stream was created
}

// NewStream makes a stream.
func (d *Device) NewStream() (device.Stream, error) {
	s := &stream{d: d}
	err := d.call("cuStreamCreate", func() result { return d.lib.streamCreate(&s.handle, 0) })
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.streams[s] = true
	return s, nil
}

// call calls the driver for the stream. It adds to a fault the launches that may have caused
// it.
func (s *stream) call(name string, f func() result) error {
	return s.fault(s.d.call(name, f))
}

// fault adds to a fault the launches of the stream that may have caused it.
func (s *stream) fault(err error) error {
	e := faultOf(err)
	if e == nil {
		return err
	}
	s.mu.Lock()
	k, l, n := s.last, s.launch, s.launches
	s.mu.Unlock()
	if n == 0 {
		return s.d.nameLaunches(err)
	}
	return s.d.lose(k.launchError(&l, n-1, e))
}

func (s *stream) Launch(k device.Kernel, l device.Launch) error {
	own, ok := k.(*kernel)
	if !ok || own.d.primary != s.d.primary {
		return fmt.Errorf("launch of %s: the kernel and the stream belong to different devices", k.Info().Name)
	}
	if err := own.queue(s.handle, &l, s.capturing); err != nil {
		return err
	}
	l.Params = nil
	s.mu.Lock()
	s.last, s.launch = own, l
	s.launches++
	s.queued++
	s.mu.Unlock()
	return nil
}

func (s *stream) Write(b device.Buffer, off int64, data []byte) error {
	return s.copy("cuMemcpyHtoDAsync", b, off, data, func(p unsafe.Pointer, addr, n uint64) result {
		return s.d.lib.memcpyHtoDA(addr, p, n, s.handle)
	})
}

func (s *stream) Read(b device.Buffer, off int64, data []byte) error {
	return s.copy("cuMemcpyDtoHAsync", b, off, data, func(p unsafe.Pointer, addr, n uint64) result {
		return s.d.lib.memcpyDtoHA(p, addr, n, s.handle)
	})
}

// copy queues a copy and keeps the host memory alive.
func (s *stream) copy(name string, b device.Buffer, off int64, data []byte, f func(p unsafe.Pointer, addr, n uint64) result) error {
	own, err := s.d.buffer(b)
	if err != nil {
		return err
	}
	if err := own.bounds(off, len(data)); err != nil || len(data) == 0 {
		return err
	}
	err = s.call(name, func() result {
		return f(unsafe.Pointer(unsafe.SliceData(data)), own.addr+uint64(off), uint64(len(data)))
	})
	// Only after the copy is queued: otherwise a Sync in between could release the memory.
	s.mu.Lock()
	defer s.mu.Unlock()
	s.copyData = append(s.copyData, data)
	s.queued++
	return err
}

func (s *stream) Copy(dst, src device.Buffer) error {
	to, err := s.d.buffer(dst)
	if err != nil {
		return err
	}
	from, err := s.d.buffer(src)
	if err != nil {
		return err
	}
	if err := to.bounds(0, int(from.size)); err != nil || from.size == 0 {
		return err
	}
	return s.call("cuMemcpyDtoDAsync", func() result {
		return s.d.lib.memcpyDtoDA(to.addr, from.addr, uint64(from.size), s.handle)
	})
}

func (s *stream) Fill(b device.Buffer, value byte) error {
	to, err := s.d.buffer(b)
	if err != nil || to.size == 0 {
		return err
	}
	return s.call("cuMemsetD8Async", func() result { return s.d.lib.memsetD8A(to.addr, value, uint64(to.size), s.handle) })
}

func (s *stream) Record(e device.Event) error {
	own, err := s.d.ownEvent(e)
	if err != nil {
		return err
	}
	return s.call("cuEventRecord", func() result { return s.d.lib.eventRecord(own.handle, s.handle) })
}

func (s *stream) Wait(e device.Event) error {
	own, err := s.d.ownEvent(e)
	if err != nil {
		return err
	}
	return s.call("cuStreamWaitEvent", func() result { return s.d.lib.streamWaitEvent(s.handle, own.handle, 0) })
}

func (s *stream) Done() (bool, error) {
	if err := s.d.ready(); err != nil {
		return false, err
	}
	n := s.count()
	switch r := s.d.try(func() result { return s.d.lib.streamQuery(s.handle) }); r {
	case success:
		s.allEnded(n)
		return true, nil
	case notReady:
		return false, nil
	default:
		return false, s.fault(s.d.check("cuStreamQuery", r))
	}
}

func (s *stream) Sync(ctx context.Context) error {
	if s.capturing {
		return errors.New("the stream of a graph cannot be waited for while it is recorded: call Sync on the stream of the replay")
	}
	n := s.count()
	if err := s.d.finish(ctx, s.handle, s.what); err != nil {
		return s.fault(err)
	}
	s.allEnded(n)
	return nil
}

// count returns the number of launches and copies since the stream was created.
func (s *stream) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queued
}

// allEnded records that all work has ended, if nothing was queued since count returned n.
func (s *stream) allEnded(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queued == n {
		s.launches, s.copyData = 0, nil
	}
}

// what describes the work of the stream in an error.
func (s *stream) what() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.launches == 0 || s.last == nil:
		return "the stream's work"
	case s.launches == 1:
		return s.last.info.Name
	}
	return fmt.Sprintf("one of %d launches, the last of which is %s,", s.launches, s.last.info.Name)
}

func (s *stream) Close() error {
	s.d.mu.Lock()
	delete(s.d.streams, s)
	s.d.mu.Unlock()
	return s.call("cuStreamDestroy", func() result { return s.d.lib.streamDestroy(s.handle) })
}
