package device

import "context"

// Stats counts what a launch did.
type Stats struct {
	ThreadInstructions uint64
	WarpInstructions   uint64
}

// StatsKernel is a Kernel of a device that counts.
type StatsKernel interface {
	Kernel
	// Run is Launch that also counts, up to where a launch failed.
	Run(ctx context.Context, l Launch) (Stats, error)
}
