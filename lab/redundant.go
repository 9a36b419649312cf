package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/problem"
)

// SyncOp is an instruction that orders accesses to memory.
type SyncOp struct {
	Line int // the line in the PTX
	Text string
}

func (o SyncOp) String() string { return fmt.Sprintf("%s at line %d", o.Text, o.Line) }

// CompareHeld runs a variant with adversarial orders of warps and compares its bits with the
// original's. In each order the warps execute the instruction of one line as late as the
// synchronisation allows, so a producer or a consumer that does not have to wait for that
// instruction overtakes it. The shapes reuse every stage of a ring, and give each block several
// work items.
func (t *Trials) CompareHeld(ctx context.Context, s *Subject, lines []int) (c Comparison, err error) {
	defer device.CatchBug(&err)
	for i := range t.jury.held {
		j := &t.jury.held[i]
		if err := j.prepare(ctx, t); err != nil {
			return c, err
		}
		for _, line := range lines {
			o := emu.Options{Hold: line, MaxInstructions: heldLimit * j.limit, Output: io.Discard}
			out, failed, err := t.output(ctx, s, j.in, o)
			at := fmt.Sprintf("%v, with warps that wait at line %d", j.Shape, line)
			switch {
			case err != nil:
				return c, err
			case failed != nil:
				return Comparison{Wrong, failed.Error(), at}, nil
			case !out.same(j.right):
				return Comparison{Wrong, "the output depends on the order in which warps run", at}, nil
			}
		}
	}
	return Comparison{Likeness: SameBits}, nil
}

// heldLimit is how many times as many instructions as in the natural order a warp may execute while
// another warp is held: waits are loops.
const heldLimit = 64

// heldShapes returns the shapes of CompareHeld: one that fills each ring more than twice with as
// few rows as the kernel supports, and one with several work items per block.
func heldShapes(s *Subject, of structure, heads problem.HeadDim) (shapes []problem.Shape) {
	keys := 2*of.ring + of.tileKV + 5
	for _, options := range [][]problem.Shape{
		{{B: 1, Hq: 1, Hkv: 1, Sq: 1, Skv: keys}, {B: 1, Hq: 1, Hkv: 1, Sq: of.tileQ, Skv: keys}, length(1, 1, keys)},
		{{B: 3, Hq: 3, Hkv: 3, Sq: 9, Skv: of.tileKV + 9}, length(3, 3, of.tileKV+9)},
	} {
		if p, ok := firstServed(s, heads, options); ok {
			shapes = append(shapes, p)
		}
	}
	return shapes
}

// racePair is a pair of unordered accesses, or one access and what it lacks.
type racePair struct {
	kind        string
	first, then int // lines
}

// mostNeighbours is the number of operations near a redundant one that WhyRedundant tries.
const mostNeighbours = 24

// WhyRedundant returns why the original needs the operation of a line for no order: it names the
// operation among others that orders the same accesses. It watches the original and ignores what
// the operation orders, alone and together with each of the others, nearest first.
func (t *Trials) WhyRedundant(ctx context.Context, line int, others []SyncOp) (why string, err error) {
	defer device.CatchBug(&err)
	others = slices.DeleteFunc(slices.Clone(others), func(o SyncOp) bool { return o.Line == line })
	sorted.By(others, func(a, b SyncOp) int { return cmp.Compare(distance(a.Line, line), distance(b.Line, line)) })
	others = others[:min(len(others), mostNeighbours)]
	var around string
	for _, o := range others {
		alone, err := t.unordered(ctx, o.Line)
		if err != nil {
			return "", err
		}
		both, err := t.unordered(ctx, line, o.Line)
		if err != nil {
			return "", err
		}
		for _, p := range both {
			if !slices.Contains(alone, p) {
				return fmt.Sprintf("redundant: %v orders the same accesses (line %d before line %d)", o, p.first, p.then), nil
			}
		}
		if i := slices.IndexFunc(alone, func(p racePair) bool { return min(p.first, p.then) < line && line < max(p.first, p.then) }); i >= 0 && around == "" {
			around = fmt.Sprintf("redundant: no access needs it; %v orders the accesses around it (line %d before line %d)", o, alone[i].first, alone[i].then)
		}
	}
	if around != "" {
		return around, nil
	}
	return fmt.Sprintf("redundant: no access needs it, without any one of the %d nearest other operations either", len(others)), nil
}

func distance(a, b int) int { return max(a-b, b-a) }

// unordered returns what the checkers find in the original if the operations of some lines order
// nothing. It remembers the answers.
func (t *Trials) unordered(ctx context.Context, lines ...int) ([]racePair, error) {
	key := fmt.Sprint(lines)
	t.jury.mu.Lock()
	found, ok := t.jury.unordered[key]
	t.jury.mu.Unlock()
	if ok {
		return found, nil
	}
	for i := range t.jury.held {
		j := &t.jury.held[i]
		if err := j.prepare(ctx, t); err != nil {
			return nil, err
		}
		m, err := t.measurement(t.original, heldLimit*j.limit)
		if err != nil {
			return nil, err
		}
		m.ignore = lines
		list, _, _, err := m.watchOnce(ctx, j.in, 0)
		if err != nil && !errors.Is(err, device.ErrEndless) {
			return nil, err
		}
		for _, f := range list {
			p := racePair{kind: string(f.Kind), then: int(f.Pos.Line), first: int(f.Pos.Line)}
			if f.Other != nil {
				p.first = int(f.Other.Pos.Line)
			}
			if !slices.Contains(found, p) {
				found = append(found, p)
			}
		}
	}
	t.jury.mu.Lock()
	t.jury.unordered[key] = found
	t.jury.mu.Unlock()
	return found, nil
}
