package timing

import (
	"context"

	"github.com/GOATnote-Inc/attest/device"
)

// Spoiler makes each timed launch do its work: before each pass over the sets of buffers it
// changes the inputs and overwrites the outputs, so that no launch finds the answer of an
// earlier one and no launch has seen its inputs before.
type Spoiler interface {
	// Begin is called before the samples of a turn. Work that was queued before has ended.
	Begin(ctx context.Context) error
	// Next is called before each run. It queues on s what the next passes need and is not
	// timed. launches is false if the run consists of the spoiling alone.
	Next(s device.Stream, passes int, launches bool) error
	// Spoil queues the spoiling before one pass over the sets. pass counts from 0 in each run.
	// A graph records it once and replays it, so what changes from run to run must come from
	// memory that Next has written.
	Spoil(s device.Stream, pass int) error
}
