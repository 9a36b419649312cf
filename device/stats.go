package device

import "context"

// Stats holds the numbers of instructions that a launch executed.
type Stats struct {
	ThreadInstructions uint64
	WarpInstructions   uint64
}

// StatsKernel is a Kernel of a device that counts instructions.
type StatsKernel interface {
	Kernel
	// Run is Launch with statistics. If the launch fails, they count the instructions until
	// then.
	Run(ctx context.Context, l Launch) (Stats, error)
}
