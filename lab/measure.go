package lab

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/emu/cover"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
)

// Measure measures a subject by a plan. It calls progress, if not nil, before each step. The
// record holds what is wrong with the kernel; an error means that the kernel could not be
// measured, or that ctx ended.
func Measure(ctx context.Context, s *Subject, p Plan, progress func(Progress)) (*record.Record, error) {
	m, err := newMeasurement(s, p, progress)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	defer m.close()
	sections := []func(context.Context) error{m.resources, m.defects, m.correctness, m.counters, m.foretell, m.performance}
	if b := p.Before; b != nil {
		m.r.Resources, m.r.Defects, m.r.Correctness, m.r.Counters = b.Resources, b.Defects, b.Correctness, b.Counters
		if sections = sections[len(sections)-1:]; !p.KeepGoing && m.red() {
			return m.r, nil
		}
	}
	for _, section := range sections {
		if err := section(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		if !p.KeepGoing && m.red() {
			break
		}
	}
	return m.r, nil
}

// Unfinished returns the record of a measurement that ended early in a section, as Progress
// names it. internal says that attest itself failed.
func Unfinished(s *Subject, p Plan, section, why string, internal bool) (*record.Record, error) {
	m, err := newMeasurement(s, p, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	defer m.close()
	gate := record.PerformanceGate // also for counters, which explain it
	switch name := record.GateName(section); name {
	case record.ResourcesGate, record.DefectsGate, record.CorrectnessGate:
		gate = name
	case "": // it ended before its first step
		gate = record.ResourcesGate
	}
	m.r.Ended = &record.Ended{Gate: gate, Why: why, Internal: internal}
	return m.r, nil
}

// measurement is the state of Measure.
type measurement struct {
	s     *Subject
	p     Plan
	r     *record.Record
	meter *meter
	dev   device.Device
	own   bool            // whether dev was opened here
	heads problem.HeadDim // of shapes that leave it open
	cover *cover.Cover    // what ran under the checkers
	// lengths are the cases of the sweep over all remainders of a tile.
	lengths    []Case
	conditions *record.Conditions // how far the cases meet the conditions on sizes
	// limit is the number of instructions that a warp may execute under the checkers; 0 is
	// mostWatched.
	limit uint64
	// ignore are lines whose barriers, waits and fences order nothing for the checkers.
	ignore []int
	brief  bool  // do not look for the causes of errors
	ended  error // why the last launch failed, or nil
}

func newMeasurement(s *Subject, p Plan, progress func(Progress)) (*measurement, error) {
	if p.Seed == 0 {
		p.Seed = FreshSeed()
	}
	if p.Times != nil && p.Times.Seed == 0 {
		times := *p.Times
		times.Seed = p.Seed
		p.Times = &times
	}
	m := &measurement{s: s, p: p, meter: &meter{tell: progress, start: time.Now()}, dev: p.Device, cover: cover.New()}
	if m.heads = headDim(s); m.heads.D == 0 {
		return nil, fmt.Errorf("no head dimension is supported: check what the ABI file requires")
	}
	if err := m.openEmulator(); err != nil {
		return nil, err
	}
	m.r = NewRecord(s, m.dev, p.Build)
	m.r.Plan, m.r.Seed, m.r.Criteria = p.Name, p.Seed, p.Criteria
	if p.Baseline != nil {
		b := p.Baseline.Describe()
		m.r.Baseline = &b
	}
	m.derive()
	m.foresee()
	return m, nil
}

// openEmulator opens an emulator for the cases if they do not run on a GPU. An emulator that the
// caller opened is replaced by one of the same target, because the seed of the plan decides what
// kernels read from %clock, %globaltimer and %smid.
func (m *measurement) openEmulator() error {
	target := m.s.Target
	if m.dev != nil {
		given, ok := m.dev.(*emu.Device)
		if !ok {
			return nil
		}
		target = given.Info().Target
	}
	dev, err := emulator(target, emu.Options{Moment: m.p.Seed})
	if err == nil {
		m.dev, m.own = dev, true
	}
	return err
}

// NewRecord returns a record without measurements of a kernel on a device. It adds the device,
// versions and, if it is zero, the time to the build.
func NewRecord(s *Subject, dev device.Device, b record.Build) *record.Record {
	b.Device, b.Go, b.OS = dev.Info(), runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH
	if b.Time.IsZero() {
		b.Time = time.Now().UTC()
	}
	if b.Device.Driver != "emu" {
		b.Driver = b.Device.Version
	}
	return &record.Record{Schema: record.Schema, Kernel: s.Describe(), Build: b}
}

// emulator opens the emulator of the lowest target that runs code for t.
func emulator(t ptx.Target, o emu.Options) (*emu.Device, error) {
	target, err := emu.TargetFor(t)
	if err != nil {
		return nil, err
	}
	return emu.New(target, o)
}

func (m *measurement) close() {
	if m.own {
		m.dev.Close()
	}
}

// red reports whether a measured section is red, so that the measurement can stop.
func (m *measurement) red() bool {
	for _, g := range gate.Judge(m.r).Gates {
		if g.Status == record.Red || g.Status == record.Void && g.Name != record.DefectsGate {
			return true
		}
	}
	return false
}

// forgoes reports whether a case is skipped: the subject does not support its scale, or the case
// is optional and the subject does not support its shape, or it has more queries than keys and
// the subject appends a key for each query.
func (m *measurement) forgoes(c Case, refused error) bool {
	if c.Scaled && !slices.Contains(m.s.Supports, problem.CustomScale) {
		return true
	}
	return c.Optional && (refused != nil || m.s.Problem.Appends && c.Shape.Sq > c.Shape.Skv)
}

// refusal returns the reason why the kernel does not support a shape.
func (m *measurement) refusal(s problem.Shape, why error) record.Refusal {
	if s.D == 0 {
		s = s.WithHeadDim(m.heads)
	}
	return record.Refusal{Shape: s, Why: why.Error()}
}

// foresee plans the steps for the progress. The weight of a step estimates its time on the
// emulator: its operations, and a fixed part.
func (m *measurement) foresee() {
	m.meter.plan(len(m.p.Targets), float64(len(m.p.Targets))*weightFixed)
	for _, s := range m.p.Defects.Shapes {
		if s, _, ok := m.served(s); ok {
			n := len(m.p.Defects.of(0))
			m.meter.plan(n, float64(n)*weightChecked*weight(s))
		}
	}
	for _, c := range m.p.Cases {
		if s, refused, ok := m.served(c.Shape); ok && !m.forgoes(c, refused) {
			m.meter.plan(1, m.weight(s))
		}
	}
	for _, c := range m.lengths {
		m.meter.plan(1, m.weight(c.Shape))
	}
	if m.p.Times != nil && timed(m.dev) {
		n := len(m.p.Times.Shapes) * len(m.p.Times.Methods)
		m.meter.plan(n, float64(n)*weightTimed)
	}
	if m.p.Counters != (problem.Shape{}) {
		m.meter.plan(1, m.weight(m.p.Counters))
	}
	if m.foretells() {
		m.meter.plan(1, m.weight(m.p.Predict))
	}
}

const (
	weightFixed   = 5e6
	weightChecked = 6 // a run under the checkers takes this many times as long
	weightTimed   = 2e9
)

func weight(s problem.Shape) float64 {
	s.D = max(s.D, 1)
	return weightFixed + s.FLOP()
}

// weight returns the weight of a case. On a GPU the reference takes the time.
func (m *measurement) weight(s problem.Shape) float64 { return weight(s) }

// timed reports whether a device can be timed: the emulator cannot.
func timed(dev device.Device) bool { return dev.Info().Driver != "emu" }
