package device

import (
	"context"
	"time"
)

// Streamer is a Device with streams. The emulator is a Streamer too: it executes the work of
// a stream immediately, so that programs with streams run on both devices.
type Streamer interface {
	Device
	// NewStream returns an empty stream.
	NewStream() (Stream, error)
	// NewEvent returns an event that was not recorded yet.
	NewEvent() (Event, error)
	// AllocHost allocates page-locked memory of the host, which the device can access
	// directly. Its content is undefined.
	AllocHost(size int64) (HostBuffer, error)
	// NewGraph calls queue with a stream that records work instead of executing it, and
	// returns the recorded work as a graph. The stream is valid only during the call. Only
	// Launch, Write, Read, Copy, Fill, Record and Wait may be called on it.
	NewGraph(queue func(Stream) error) (Graph, error)
}

// Stream executes work in the order in which it was queued. The work of several streams may
// overlap. Goroutines may share a stream.
//
// Calls outside a stream ([Kernel.Launch], [Buffer.Write] and [Buffer.Read]) take effect
// after all work that was queued before them, in any stream.
//
// A kernel that faults makes a later call fail, usually Sync.
type Stream interface {
	// Launch queues a run of k. The parameters are copied before it returns.
	Launch(k Kernel, l Launch) error
	// Write queues a copy of data to b at a byte offset. data must not change before the copy
	// has ended. Write returns before the copy ends only if data is in a HostBuffer.
	Write(b Buffer, offset int64, data []byte) error
	// Read queues a copy from b at a byte offset to data. The rules for data are those of
	// Write.
	Read(b Buffer, offset int64, data []byte) error
	// Copy queues a copy of all of src to the start of dst.
	Copy(dst, src Buffer) error
	// Fill queues a write of value to every byte of b.
	Fill(b Buffer, value byte) error
	// Record queues the recording of e: e passes when all earlier work of the stream has
	// ended.
	Record(e Event) error
	// Wait queues a wait for e, as recorded last. The host does not wait.
	Wait(e Event) error
	// Done reports whether all the work has ended.
	Done() (bool, error)
	// Sync waits for all the work. If ctx ends first, the error describes the work that is
	// still running.
	Sync(ctx context.Context) error
	// Close frees the stream once its work has ended.
	Close() error
}

// Event is a moment in a stream.
type Event interface {
	// Done reports whether the event has passed.
	Done() (bool, error)
	// Sync waits until the event has passed.
	Sync(ctx context.Context) error
	// Since returns the time from another event to this one, by the clock of the device. Both
	// events must have passed.
	Since(start Event) (time.Duration, error)
	Close() error
}

// Graph is recorded work that is queued with one call. A replay costs the host little time
// and leaves no gaps between launches.
type Graph interface {
	// Replay queues the work on a stream.
	Replay(s Stream) error
	Close() error
}

// HostBuffer is page-locked memory of the host.
type HostBuffer interface {
	// Bytes returns the memory. It is valid until Free.
	Bytes() []byte
	Free() error
}

// OccupancyKernel is a Kernel of a device that reports occupancy.
type OccupancyKernel interface {
	Kernel
	// Occupancy returns how much of a launch fits on the device at once. The launch needs no
	// parameters.
	Occupancy(l Launch) (Occupancy, error)
}

// Occupancy is how much of a launch fits on the device at once.
type Occupancy struct {
	BlocksPerSM int
	Warps       int     // per SM
	Fraction    float64 // Warps divided by the number of warps that an SM can hold
	Clusters    int     // on the whole device; 0 for a launch without clusters
}
