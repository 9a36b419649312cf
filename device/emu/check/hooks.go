package check

import (
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
)

// The interfaces below are the hooks of a checker. A type assertion finds them once
// for each launch or cluster, so a hook that a checker does not have costs nothing.

// part is a checker at work on a launch.
type part interface {
	// cluster makes what watches one cluster: a value with any of the watches below,
	// or nil. The watches of one cluster are called one after the other.
	cluster(c *cluster) any
}

// stepChooser is a part that names the instructions whose execution it watches: see
// stepWatch and passWatch.
type stepChooser interface {
	wants(in *observe.Inst) bool
}

// launchEnder is a part that is told when the launch is over. c takes reports.
type launchEnder interface {
	endLaunch(c *cluster, err error)
}

// stepWatch is told before lanes execute an instruction that its part wants.
type stepWatch interface {
	step(s *observe.Step)
}

// skipWatch is told of instructions that its part wants and that no lane executes because
// every guard fails. Such a step has an empty mask.
type skipWatch interface {
	skip(s *observe.Step)
}

// passWatch is told when lanes have completed an instruction that may wait and that
// its part wants.
type passWatch interface {
	pass(s *observe.Step)
}

// accessWatch is told of all accesses to memory.
type accessWatch interface {
	access(a *observe.Access)
}

// startWatch is told when a thread has started asynchronous work.
type startWatch interface {
	start(a *observe.Async)
}

// completeWatch is told when asynchronous work has taken effect.
type completeWatch interface {
	complete(c *observe.Completion)
}

// mbarrierWatch is told of operations on mbarriers.
type mbarrierWatch interface {
	mbarrier(e *observe.Mbarrier)
}

// openWatch is told when a barrier releases lanes.
type openWatch interface {
	open(o *observe.Opening)
}

// faultWatch is told of faults. The launch may continue after a fault.
type faultWatch interface {
	fault(f *device.Fault)
}

// endWatch is told when all threads of the cluster have ended, or when the launch was
// stopped.
type endWatch interface {
	end()
}
