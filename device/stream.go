package device

import (
	"context"
	"time"
)

// Streamer is a Device on which work can be queued. The emulator is one too: it
// does the work of a stream at once, so that a program for streams runs on both.
type Streamer interface {
	Device
	// NewStream makes a stream with nothing in it.
	NewStream() (Stream, error)
	// NewEvent makes an event that nothing has recorded yet.
	NewEvent() (Event, error)
	// AllocHost allocates memory of the host that the device copies to and from
	// without a detour: page-locked memory. Its content is undefined.
	AllocHost(size int64) (HostBuffer, error)
	// NewGraph hands queue a stream that notes the work down instead of doing it,
	// and makes of it a graph, which is queued as one. The stream ends with queue,
	// and only Launch, Write, Read, Copy, Fill, Record and Wait mean something on
	// it.
	NewGraph(queue func(Stream) error) (Graph, error)
}

// Stream is work that runs in the order in which it was queued, beside that of
// other streams. Goroutines may share one.
//
// What does not go through a stream ([Kernel.Launch], [Buffer.Write] and
// [Buffer.Read]) comes after everything that was queued before it, in any stream.
//
// A kernel that faults makes a later call fail, usually Sync.
type Stream interface {
	// Launch queues a run of k. The parameters are copied before it returns.
	Launch(k Kernel, l Launch) error
	// Write and Read queue a copy to or from b at a byte offset. data belongs to
	// the copy until the stream has come that far. The host goes on meanwhile only
	// if data is in a HostBuffer.
	Write(b Buffer, offset int64, data []byte) error
	Read(b Buffer, offset int64, data []byte) error
	// Copy queues a copy of all of src to the start of dst.
	Copy(dst, src Buffer) error
	// Fill queues the writing of value to every byte of b.
	Fill(b Buffer, value byte) error
	// Record has e note the moment at which the stream comes this far.
	Record(e Event) error
	// Wait has the stream wait for what e last recorded; the host goes on.
	Wait(e Event) error
	// Done reports whether all the work has ended.
	Done() (bool, error)
	// Sync waits for all the work. When ctx ends first, the error says what is
	// still running.
	Sync(ctx context.Context) error
	// Close frees the stream once its work has ended.
	Close() error
}

// Event is a moment in a stream.
type Event interface {
	// Done reports whether the stream has come as far as Record was called.
	Done() (bool, error)
	// Sync waits until it has.
	Sync(ctx context.Context) error
	// Since is the time from another event to this one by the device's own clock.
	// Both must be done.
	Since(start Event) (time.Duration, error)
	Close() error
}

// Graph is work that was noted down once and is queued as one, which costs the
// host little and leaves no gaps between launches.
type Graph interface {
	// Replay queues the work on a stream.
	Replay(s Stream) error
	Close() error
}

// HostBuffer is page-locked memory of the host.
type HostBuffer interface {
	// Bytes is the memory itself, until Free.
	Bytes() []byte
	Free() error
}

// OccupancyKernel is a Kernel of a device that knows what fits on it.
type OccupancyKernel interface {
	Kernel
	// Occupancy is how much of a launch runs at once. Its parameters are not
	// needed.
	Occupancy(l Launch) (Occupancy, error)
}

// Occupancy is how much of a launch fits on the device at once.
type Occupancy struct {
	BlocksPerSM int
	Warps       int     // on an SM
	Fraction    float64 // of the warps an SM can hold
	Clusters    int     // on the whole device; 0 for a launch without clusters
}
