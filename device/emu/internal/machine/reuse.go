package machine

import "sync"

// The frames and the working memory of a cluster are large: a frame holds all registers of a
// warp. Clusters that end without a fault leave them to later clusters, of the same launch or
// of others, because allocating them anew cost a fifth of the time of short launches.

// scratches holds working memory of ended clusters. The factors that it has decoded stay
// valid, because they are found by their bits.
var scratches = sync.Pool{New: func() any { return new(Scratch) }}

// reuse leaves the memory of a cluster, which has ended and is closed, to later clusters.
func (c *cluster) reuse() {
	scratches.Put(c.Async.Matrix)
	c.Async.Matrix = nil
	for _, b := range c.Blocks {
		for _, w := range b.Warps {
			w.entry.release()
			w.entry = nil
			for _, frames := range w.spare {
				for _, f := range frames {
					f.release()
				}
			}
			w.spare = nil
		}
	}
}

// frameList holds frames of ended clusters. It is not a sync.Pool, because a pool keeps its
// contents for two garbage collections: the frames of hundreds of unused programs filled the
// memory.
type frameList struct {
	mu   sync.Mutex
	free []*Frame
}

// take returns a frame, or nil if the list is empty.
func (l *frameList) take() (f *Frame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.free); n > 0 {
		f, l.free = l.free[n-1], l.free[:n-1]
	}
	return f
}

// release leaves the frame to later activations of its function.
func (f *Frame) release() {
	f.Warp, f.Block, f.parent, f.site, f.stack = nil, nil, nil, nil, nil
	l := f.fn.frames
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free = append(l.free, f)
}

// freshFrame returns a frame with the registers that an activation of the function starts
// with.
func (fn *Function) freshFrame() *Frame {
	f := fn.frames.take()
	if f != nil {
		clear(f.Pred)
		clear(f.params)
		*f = Frame{fn: fn, R32: f.R32, R64: f.R64, Pred: f.Pred, params: f.params}
	} else {
		f = &Frame{
			fn: fn, R32: make([]Lanes32, len(fn.Init32)), R64: make([]Lanes64, len(fn.Init64)),
			Pred: make([]uint32, fn.nPred), params: make([]byte, fn.ParamSize*32),
		}
	}
	copy(f.R32, fn.Init32)
	copy(f.R64, fn.Init64)
	return f
}
