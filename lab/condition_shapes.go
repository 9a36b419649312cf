package lab

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// The limits of the search for shapes with unusual conditions.
const (
	conditionRounds   = 5    // each starts from the shapes that the one before has found
	conditionShapes   = 6000 // shapes that are drawn in a round
	mostOpen          = 8    // conditions without a case that are named
	mostConditionFLOP = 3e7  // the size of such a shape
	watchedConditions = 8    // of the shapes that become cases, those that the checkers see too
)

// mostConditional is the number of shapes that may become cases, by depth. The kernels of attest need up to 15.
var mostConditional = []int{0, 0, 256, 1024}

// addConditional adds shapes to the plan that give the conditions of the kernel results which no other shape
// of the plan gives them. A kernel can be wrong for one combination of sizes; the numbers in its text and in
// its contract lead there. All of them are cases of the sweep, and the checkers see some.
func (d *deriver) addConditional() {
	p := &d.m.p
	d.m.conditions = &record.Conditions{}
	if p.Depth < RingsAndEdge {
		d.m.conditions.Unsearched = "conditions on sizes not searched"
		return
	}
	var planned []problem.Shape
	for _, c := range append(slices.Clone(p.Cases), d.m.lengths...) {
		if s, _, ok := d.m.served(c.Shape); ok {
			planned = append(planned, s)
		}
	}
	found := d.conditional(planned)
	d.m.conditions.Shapes = len(found)
	for i, s := range found {
		if len(p.Cases) > 0 {
			d.m.lengths = append(d.m.lengths, d.m.resolved(Case{Shape: s, Seed: uint64(i), Distribution: sweepInputs}))
		}
		if len(p.Defects.Shapes) > 0 && i < watchedConditions {
			p.Defects.Shapes = append(p.Defects.Shapes, s)
		}
	}
}

// conditional returns shapes with results that the planned shapes do not have.
func (d *deriver) conditional(planned []problem.Shape) []problem.Shape {
	var parts []*conditionPart
	constants := d.m.s.Constants()
	for _, entry := range d.m.s.Entries() {
		c, ok := conditionsOf(d.m.s.Name, d.m.s.PTX, entry)
		if !ok {
			continue
		}
		parts = append(parts, &conditionPart{conditions: c, entry: entry})
		constants = append(constants, c.constants...)
		if c.left != nil {
			d.open(*c.left, problem.Shape{})
		}
	}
	slices.Sort(constants)
	constants = slices.DeleteFunc(slices.Compact(constants), func(n int64) bool { return n < 2 || n > mostConstant })
	all := planned
	var found []problem.Shape
	var unmet []unmetResult
	for range conditionRounds {
		drawn := append(d.drawShapes(constants, found), found...)
		sorted.By(drawn, func(a, b problem.Shape) int { return cmp.Compare(telling(a), telling(b)) })
		all = append(all[:len(planned):len(planned)], drawn...)
		found, unmet = rare(all, d.results(parts, all), len(planned), mostConditional[d.m.p.Depth])
	}
	points := d.points(parts)
	for _, u := range unmet {
		d.open(points[u.point], u.shape)
	}
	return found
}

// open records a condition with a result that no case gives it.
func (d *deriver) open(p point, s problem.Shape) {
	if c := d.m.conditions; len(c.Open) < mostOpen {
		c.Open = append(c.Open, record.OpenCondition{Line: p.line, Text: p.text, Shape: s})
	} else {
		c.More++
	}
}

// points returns what the classes of the results of a shape stand for.
func (d *deriver) points(parts []*conditionPart) (list []point) {
	for _, p := range parts {
		if !p.failed {
			list = append(list, p.points...)
		}
	}
	for _, e := range d.m.s.Conditions() {
		list = append(list, point{text: e.String()})
	}
	return list
}

// results returns the classes of the results of all shapes. An entry whose conditions cannot be computed has
// none: the shapes are an addition, and a right kernel must not fail because of them. The verdict says it.
func (d *deriver) results(parts []*conditionPart, shapes []problem.Shape) []classes {
	seen := make([]classes, len(shapes))
	for _, p := range parts {
		results, err := p.compute(context.Background(), d.m, shapes)
		if p.failed = p.failed || err != nil; p.failed {
			d.m.conditions.Unsearched = fmt.Sprintf("the conditions on sizes in %s cannot be computed, so they were not searched", p.entry)
			continue
		}
		n := len(p.points)
		for i := range shapes {
			seen[i] = append(seen[i], results[i*n:(i+1)*n]...)
		}
	}
	for i, s := range shapes {
		seen[i] = append(seen[i], d.m.s.conditions(s)...)
	}
	return seen
}

// telling orders shapes: small ones first, and those at the end with so few rows and keys that a wrong
// output can be right by chance.
func telling(s problem.Shape) float64 {
	if s.Sq < 4 || s.Skv < 16 {
		return mostConditionFLOP + s.FLOP()
	}
	return s.FLOP()
}

// classes are the classes of the results of a shape, one byte each.
type classes []byte

// unmetResult is a result that a shape has and no case.
type unmetResult struct {
	point int
	shape problem.Shape
}

// rare returns up to most shapes from index first on with results that no shape before them has, and the
// results of the shapes that are too many.
func rare(all []problem.Shape, seen []classes, first, most int) (list []problem.Shape, unmet []unmetResult) {
	had := map[[2]int]bool{}
	for i, s := range all {
		isNew := false
		for at, class := range seen[i] {
			if key := [2]int{at, int(class)}; class != 0 && !had[key] {
				had[key], isNew = true, true
				if i >= first && len(list) == most {
					unmet = append(unmet, unmetResult{at, s})
				}
			}
		}
		if isNew && i >= first && len(list) < most {
			list = append(list, s)
		}
	}
	return list, unmet
}

// conditions returns the outcomes of the comparisons in the contract.
func (s *Subject) conditions(shape problem.Shape) (list classes) {
	outcomes, err := s.Outcomes(s.At(shape), kernel.Chip{SMs: fewSMs})
	if err != nil {
		return nil // the kernel is not launched for this shape
	}
	for _, yes := range outcomes {
		if yes {
			list = append(list, oneResult)
		} else {
			list = append(list, zeroResult)
		}
	}
	return list
}

// mostConstant is the largest number in a text that leads to shapes.
const mostConstant = 1 << 17

// drawShapes draws shapes that the kernel supports and whose extents are small, or follow from the numbers in its
// text: equal to them, beside them, multiples and parts of them. Half of them are shapes of a list with one or two other
// extents: a condition inside another one needs both.
func (d *deriver) drawShapes(constants []int64, from []problem.Shape) (list []problem.Shape) {
	known := map[problem.Shape]bool{}
	add := func(s problem.Shape) {
		if s, ok := d.supported(s); ok && !known[s] {
			known[s] = true
			list = append(list, s)
		}
	}
	for i := range conditionShapes {
		s := d.drawShape(constants)
		if i%2 == 0 && len(from) > 0 {
			s = d.crossed(from[d.random.IntN(len(from))], s)
		}
		add(s)
	}
	if len(from) > 0 {
		return list
	}
	for _, c := range constants { // however many there are
		for n := int(c) - 1; n <= int(c)+1; n++ {
			add(problem.Shape{B: 1, Hq: 2, Hkv: 2, Sq: 4, Skv: n})
			add(problem.Shape{B: 1, Hq: 1, Hkv: 1, Sq: n, Skv: max(16, min(n, 64))})
			add(problem.Shape{B: 1, Hq: n, Hkv: n, Sq: 4, Skv: 16})
			add(problem.Shape{B: n, Hq: 1, Hkv: 1, Sq: 4, Skv: 16})
		}
	}
	return list
}

// crossed returns a shape with one or two extents of another shape.
func (d *deriver) crossed(s, other problem.Shape) problem.Shape {
	for range d.within(1, 2) {
		switch d.random.IntN(5) {
		case 0:
			s.B = other.B
		case 1:
			s.Hq, s.Hkv = other.Hq, other.Hkv
		case 2:
			s.Sq = other.Sq
		default:
			s.Skv = other.Skv
		}
	}
	return s
}

// drawShape draws a shape.
func (d *deriver) drawShape(constants []int64) problem.Shape {
	c := 1
	if len(constants) > 0 {
		c = int(constants[d.random.IntN(len(constants))])
	}
	// extent draws a number up to few, up to some, or from the constants.
	extent := func(few, some int) int {
		switch d.random.IntN(4) {
		case 0, 1:
			return d.within(1, few)
		case 2:
			return d.within(1, some)
		}
		return min(max(c+d.within(-1, 1), 1), some)
	}
	b, heads, group, sq, skv := extent(4, 17), extent(6, 72), extent(2, 16), extent(4, 400), extent(130, 2100)
	if len(constants) > 0 {
		c = int(constants[d.random.IntN(len(constants))])
	}
	switch d.random.IntN(12) {
	case 0:
		skv = c / (b * heads * group)
	case 1:
		skv = c / d.within(1, heads*group)
	case 2:
		skv = c ^ sq
	case 3:
		skv = c + sq*d.within(-1, 1)
	case 4:
		skv = c<<d.within(1, 7) + d.within(-1, 1)
	case 5, 6, 7:
		skv = c + d.within(-1, 1)
	}
	switch d.random.IntN(6) {
	case 0, 1:
		sq = skv
	case 2:
		sq = skv + d.within(-2, 2)
	}
	return problem.Shape{B: b, Hq: heads * group, Hkv: heads, Sq: sq, Skv: skv}
}

// supported returns a shape, or the same with equal lengths or without groups if only that is supported.
func (d *deriver) supported(s problem.Shape) (problem.Shape, bool) {
	s = s.WithHeadDim(d.m.heads)
	for _, one := range []problem.Shape{s, {B: s.B, Hq: s.Hq, Hkv: s.Hq, Sq: s.Sq, Skv: s.Skv, D: s.D, DV: s.DV}, {B: s.B, Hq: s.Hkv, Hkv: s.Hkv, Sq: s.Skv, Skv: s.Skv, D: s.D, DV: s.DV}} {
		if min(one.B, one.Hq, one.Hkv, one.Sq, one.Skv) < 1 || one.FLOP() > mostConditionFLOP || d.m.s.fewerQueries() && one.Sq > one.Skv {
			continue
		}
		if d.m.s.ServesShape(one) == nil {
			return one, true
		}
	}
	return s, false
}

// conditionPart computes the conditions of one entry.
type conditionPart struct {
	*conditions
	entry  string
	failed bool // they cannot be computed
}

// compute returns the classes of the results of all shapes, one shape after the other.
func (p *conditionPart) compute(ctx context.Context, m *measurement, shapes []problem.Shape) (results classes, err error) {
	table := make([]byte, len(shapes)*p.stride())
	runs := make([]bool, len(shapes))
	for i, s := range shapes {
		runs[i] = p.arguments(m.s, s, table[i*p.stride():(i+1)*p.stride()])
	}
	dev, err := emulator(m.s.Target, emu.Options{Output: io.Discard})
	if err != nil {
		return nil, err
	}
	defer dev.Close()
	module, err := dev.Load("conditions.ptx", p.text)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, module.Close()) }()
	k, err := module.Kernel("conditions")
	if err != nil {
		return nil, err
	}
	results = make(classes, len(shapes)*len(p.points))
	in, err := dev.Alloc(int64(len(table)))
	if err != nil {
		return nil, err
	}
	out, err := dev.Alloc(int64(len(results)))
	if err != nil {
		return nil, err
	}
	const threads = 128
	err = errors.Join(in.Write(0, table), out.Write(0, results))
	if err == nil {
		err = k.Launch(ctx, device.Launch{
			Grid: device.D((len(shapes) + threads - 1) / threads), Block: device.D(threads),
			Params: []device.Param{device.Ptr(in), device.Ptr(out), device.U32(uint32(len(shapes)))},
		})
	}
	if err == nil {
		err = out.Read(0, results)
	}
	for i, ran := range runs {
		if !ran {
			clear(results[i*len(p.points) : (i+1)*len(p.points)])
		}
	}
	return results, err
}

// arguments writes the size of the grid and the arguments of the entry for a shape. It reports whether the
// entry is launched.
func (p *conditionPart) arguments(s *Subject, shape problem.Shape, row []byte) bool {
	plan, err := s.Bind(s.At(shape), kernel.Chip{SMs: fewSMs}, kernel.Options{})
	if err != nil {
		return false
	}
	at := slices.IndexFunc(plan.Steps, func(x kernel.Step) bool { return x.Entry == p.entry })
	if at < 0 {
		return false
	}
	step := &plan.Steps[at]
	for i, n := range append(step.Grid[:], step.Block[:]...) {
		binary.LittleEndian.PutUint32(row[4*i:], uint32(n))
	}
	n := 4 * gridWords
	for i, v := range p.params {
		n = offsetOf(n, v)
		if i < len(step.Args) && step.Args[i].Memory < 0 {
			copy(row[n:n+int(v.Size())], step.Args[i].Value)
		} else if v.Size() == 8 {
			binary.LittleEndian.PutUint64(row[n:], 0x7000_0000_0000+uint64(i)<<32)
		}
		n += int(v.Size())
	}
	return true
}
