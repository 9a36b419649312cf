package cuda

import (
	"errors"

	"github.com/GOATnote-Inc/attest/device"
)

// graph is a CUDA graph that was instantiated.
type graph struct {
	d      *Device
	exec   uintptr
	stream *stream // the stream on which it was recorded: it holds the launches and their memory
}

const (
	streamNonBlocking = 1
	captureRelaxed    = 2 // other goroutines may call the driver during the capture
)

// NewGraph records the work that queue puts into its stream.
func (d *Device) NewGraph(queue func(device.Stream) error) (device.Graph, error) {
	// The stream does not synchronise with the null stream, because use of the null stream
	// would break a capture.
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

// capture makes the driver record the work that queue puts into s.
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
		return errors.New("replay: the graph and the stream belong to different devices")
	}
	if own.capturing {
		return errors.New("a graph cannot be replayed while another graph is recorded: queue its work again")
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
