package runfuzz

import (
	"encoding/binary"
	"math"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
)

// Setting is how a text is run.
type Setting struct {
	Options emu.Options
	// Launches are the launches of each kernel, one after the other. One without params gets buffers
	// that fit the kernel.
	Launches []Launch
	Check    bool // run the checks of the verifier that are only warnings, too
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
	s := Setting{Check: r.IntN(8) == 0}
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
		s.Launches = append(s.Launches, Launch{Launch: shapes[r.IntN(len(shapes))]})
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

// params returns arguments of a kernel: pointers to small buffers where a pointer may be needed, and
// small numbers elsewhere.
func params(dev *emu.Device, info device.KernelInfo) (ps []device.Param, buffers []device.Buffer) {
	for _, p := range info.Params {
		data := make(device.Param, p.Size)
		if p.Size < 8 {
			copy(data, []byte{8})
		} else if b, err := dev.Alloc(bufferBytes); err == nil {
			_ = b.Write(0, content(b.Addr()))
			copy(data, device.Ptr(b))
			buffers = append(buffers, b)
		}
		ps = append(ps, data)
	}
	return ps, buffers
}

// content returns the bytes of a buffer. Kernels of the instruction table load their registers from
// slots of 16 bytes, so that some slots hold addresses of the buffer, and others numbers.
func content(addr uint64) []byte {
	data := make([]byte, 0, bufferBytes)
	for i := uint64(0); len(data) < bufferBytes/2; i++ {
		v := addr + bufferBytes/2 + 16*(i%32)
		switch i % 4 {
		case 1:
			v = i
		case 2:
			v = 16 * i // an address in shared memory
		case 3:
			v = math.Float64bits(1.5) | uint64(math.Float32bits(-2)) | i
		}
		data = binary.LittleEndian.AppendUint64(data, v)
		data = binary.LittleEndian.AppendUint64(data, ^i)
	}
	return append(data, make([]byte, bufferBytes-len(data))...)
}
