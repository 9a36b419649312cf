package runfuzz

import (
	"math"
	"math/rand/v2"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
)

// Setting is how a text is run.
type Setting struct {
	Options emu.Options
	// Launches are the launches of each kernel, one after the other. One without params gets buffers
	// that fit the kernel.
	Launches []Launch
	Check    bool   // run the checks of the verifier that are only warnings, too
	Compare  bool   // compare the bits of launches with and without checkers
	Newer    bool   // run on another GPU than the oldest that runs the text
	Again    bool   // load the text twice, so that one module gets the addresses of the other
	Args     uint64 // the seed of the arguments
}

// Launch is one launch of a setting.
type Launch struct {
	device.Launch
	Watch bool // run with checkers, counters and the recorder of coverage
}

// The size of the memories, in bytes. Most of the time of a small run goes into the first use of
// memory, so all of them are small.
const (
	bufferBytes = 2048
	shared      = 2048
	mostMemory  = 1 << 24
)

// Kernels of the texts that end need fewer than 300 instructions in each warp, most of them fewer
// than 100. Mutants often do not end, and the checkers remember more with each round of a loop, so
// few mutants may run for long.
const fewSteps, manySteps = 150, 2000

// launches is how often each kernel is launched. Loading a text takes as long as several launches, and
// checkers take most of the time of a launch, so that they watch only the last one.
const launches = 10

// settings returns the setting of a seed.
func settings(seed uint64) Setting {
	r := random(seed, 2)
	s := Setting{Check: r.IntN(8) == 0, Compare: r.IntN(32) == 0, Newer: r.IntN(8) == 0, Again: r.IntN(16) == 0, Args: r.Uint64()}
	s.Options = emu.Options{
		MaxInstructions: fewSteps, Schedule: schedules[r.IntN(len(schedules))],
		KeepGoing: r.IntN(4) == 0, GuardShared: r.IntN(2) == 0, FMA: emu.FMA(r.IntN(2)),
	}
	if r.IntN(32) == 0 {
		s.Options.MaxInstructions = manySteps
	}
	if r.IntN(8) == 0 {
		s.Options.Moment = r.Uint64()
	}
	if r.IntN(8) == 0 {
		s.Options.Hold = 1 + r.IntN(60)
	}
	for range launches {
		l := shapes[r.IntN(len(shapes))]
		if r.IntN(8) == 0 {
			l = randomShape(r)
		}
		s.Launches = append(s.Launches, Launch{Launch: l})
	}
	last := &s.Launches[launches-1]
	last.Watch = r.IntN(8) < 3
	if r.IntN(4) > 0 {
		last.Launch = shapes[r.IntN(narrow)] // each race of a thread is a finding
	}
	if r.IntN(8) == 0 {
		s.Launches[r.IntN(launches)].Launch = wide[r.IntN(len(wide))]
	}
	if r.IntN(20) == 0 {
		s.Launches[r.IntN(launches)].Launch = hostile[r.IntN(len(hostile))]
	}
	return s
}

// fullSetting returns the setting in which the texts themselves are run: with everything that can fail.
func fullSetting(schedule uint64) Setting {
	return Setting{
		Options:  emu.Options{MaxInstructions: manySteps, Schedule: schedule, KeepGoing: true, GuardShared: true},
		Launches: []Launch{{device.Launch{Grid: device.D(2), Block: device.D(64), Shared: shared}, true}}, Check: true,
	}
}

var schedules = []uint64{0, 0, 0, 1, 2, 3, 77, emu.Reversed, emu.Fine, emu.Producers, emu.Consumers, emu.Ahead(0), emu.Ahead(-1), emu.Starved(0), emu.Starved(1)}

// shapes are the sizes of launches. Two warps of a block race with each other, two blocks do, and a
// warp may be incomplete. Most launches have few threads: the time of a launch is that of the
// findings of its threads.
var shapes = []device.Launch{
	{Grid: device.D(1), Block: device.D(1), Shared: shared},
	{Grid: device.D(1), Block: device.D(2), Shared: shared},
	{Grid: device.D(1), Block: device.D(3), Shared: shared},
	{Grid: device.D(1), Block: device.D(4), Shared: shared},
	{Grid: device.D(1), Block: device.D(1, 2), Shared: shared},
	{Grid: device.D(1), Block: device.D(5)},
	{Grid: device.D(1), Block: device.D(3), Shared: 64},
	{Grid: device.D(2), Block: device.D(1), Shared: shared},
	{Grid: device.D(2), Block: device.D(2), Shared: shared},
	{Grid: device.D(2), Block: device.D(2), Cluster: device.D(2), Shared: shared},
	{Grid: device.D(1, 2), Block: device.D(3), Shared: shared, Cooperative: true},
	{Grid: device.D(1), Block: device.D(3), Shared: shared, Dependent: true},
	{Grid: device.D(1), Block: device.D(33), Shared: shared},
	{Grid: device.D(1), Block: device.D(32), Shared: shared},
	{Grid: device.D(1), Block: device.D(32), Shared: shared},
}

// narrow is the number of shapes without whole warps, at the start of shapes.
const narrow = 12

// wide are launches of whole warps, which some instructions need.
var wide = []device.Launch{
	{Grid: device.D(1), Block: device.D(64), Shared: shared},
	{Grid: device.D(1), Block: device.D(128), Shared: shared},
	{Grid: device.D(2), Block: device.D(32), Cluster: device.D(2), Shared: 16},
	{Grid: device.D(1), Block: device.D(8, 4, 3), Shared: shared},
}

// randomShape returns a launch of few threads in any arrangement.
func randomShape(r *rand.Rand) device.Launch {
	dim := func(n int) device.Dim { return device.D(1+r.IntN(n), 1+r.IntN(n), 1+r.IntN(n)) }
	l := device.Launch{Grid: dim(2), Block: dim(3), Shared: 16 << r.IntN(9), Cooperative: r.IntN(8) == 0, Dependent: r.IntN(8) == 0}
	if r.IntN(2) == 0 {
		l.Cluster = dim(2)
		c := l.Cluster
		l.Grid = device.D(c.X*(1+r.IntN(2)), c.Y, c.Z)
	}
	return l
}

// hostile are launches that must be refused, or that come near to a limit.
var hostile = []device.Launch{
	{},
	{Grid: device.D(-1), Block: device.D(32)},
	{Grid: device.D(1), Block: device.D(math.MaxInt, math.MaxInt, math.MaxInt)},
	{Grid: device.D(1), Block: device.D(1<<32, 1<<32)},
	{Grid: device.D(1), Block: device.D(1025)},
	{Grid: device.D(1), Block: device.D(1, 1, 64)},
	{Grid: device.D(1), Block: device.D(32), Shared: -1},
	{Grid: device.D(1), Block: device.D(32), Shared: math.MaxInt},
	{Grid: device.D(1), Block: device.D(32), Shared: 227 << 10},
	{Grid: device.D(6), Block: device.D(1), Cluster: device.D(3)},
	{Grid: device.D(2), Block: device.D(1), Cluster: device.D(-2)},
	{Grid: device.D(1), Block: device.D(1), Cluster: device.D(math.MaxInt, 2)},
	{Grid: device.D(16), Block: device.D(1), Cluster: device.D(4, 4)},
	{Grid: device.D(1), Block: device.D(32), Params: []device.Param{}},
	{Grid: device.D(1), Block: device.D(32), Params: []device.Param{nil, {}}},
	{Grid: device.D(1), Block: device.D(32), Params: []device.Param{device.U64(math.MaxUint64)}},
	{Grid: device.D(1), Block: device.D(32), Params: []device.Param{device.U64(1 << 40), device.U64(3 << 40), device.U32(1 << 31)}},
}
