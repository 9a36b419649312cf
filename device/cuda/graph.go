package cuda

import (
	"errors"

	"github.com/GOATnote-Inc/attest/device"
)

// graph is a CUDA graph that was instantiated.
type graph struct {
	d      *Device
	exec   uintptr
	stream *stream // what it was noted down on: the launches, the memory it holds on to
}

const (
	streamNonBlocking = 1
	captureRelaxed    = 2 // other goroutines do as they please meanwhile
)

// NewGraph notes down what queue does.
func (d *Device) NewGraph(queue func(device.Stream) error) (device.Graph, error) {
	// Not in step with the null stream: using that would break a capture.
	s := &stream{d: d, capturing: true}
	err := d.call("cuStreamCreate", func() result { return d.lib.streamCreate(&s.handle, streamNonBlocking) })
	if err != nil {
		return nil, err
	}
	defer s.Close()
	g, err := d.capture(s, queue)
	if g != 0 {
		defer d.call("cuGraphDestroy", func() result { return d.lib.graphDestroy(g) })
	}
	if err != nil {
		return nil, err
	}
	out := &graph{d: d, stream: s}
	err = d.call("cuGraphInstantiateWithFlags", func() result { return d.lib.graphInstantiate(&out.exec, g, 0) })
	if err != nil {
		return nil, err
	}
	return out, nil
}

// capture has the driver note down what queue does.
func (d *Device) capture(s *stream, queue func(device.Stream) error) (g uintptr, err error) {
	err = d.call("cuStreamBeginCapture", func() result { return d.lib.streamBeginCapture(s.handle, captureRelaxed) })
	if err != nil {
		return 0, err
	}
	ended := false
	end := func() error {
		ended = true
		return d.call("cuStreamEndCapture", func() result { return d.lib.streamEndCapture(s.handle, &g) })
	}
	defer func() {
		if !ended { // queue panicked
			end()
		}
	}()
	err = queue(s)
	if e := end(); err == nil {
		err = e
	}
	return g, err
}

func (g *graph) Replay(s device.Stream) error {
	own, ok := s.(*stream)
	if !ok || own.d.primary != g.d.primary {
		return errors.New("replay of a graph on a stream of another device")
	}
	if own.capturing {
		return errors.New("replay of a graph inside another: queue its work there again")
	}
	if err := g.d.ready(); err != nil {
		return err
	}
	r := g.d.try(func() result { return g.d.lib.graphLaunch(g.exec, own.handle) })
	if r != success {
		return own.fault(g.d.check("cuGraphLaunch", r))
	}
	own.mu.Lock()
	defer own.mu.Unlock()
	own.queued++
	if g.stream.last != nil {
		own.last, own.launch = g.stream.last, g.stream.launch
		own.launches += g.stream.launches
	}
	return nil
}

func (g *graph) Close() error {
	return g.d.call("cuGraphExecDestroy", func() result { return g.d.lib.graphExecDestroy(g.exec) })
}
