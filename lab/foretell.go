package lab

import (
	"context"

	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/predict"
	"github.com/GOATnote-Inc/attest/internal/predict/machine"
	"github.com/GOATnote-Inc/attest/internal/predict/warptrace"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// foretold is the number of clusters that are simulated for a prediction.
const foretold = 4

// foretell predicts the times of the kernel and its baseline if there is no GPU. It also predicts
// the time that would remain if the part that the kernel changes took no time. A kernel that cannot
// be simulated has no prediction; the gates do not depend on it.
func (m *measurement) foretell(ctx context.Context) error {
	if !m.foretells() {
		return nil
	}
	b := m.p.Baseline
	s, _, ok := m.served(m.p.Predict)
	if !ok || b.ServesShape(s) != nil {
		return nil
	}
	m.meter.at("prediction", s.String())
	chip := chips.For(m.s.Target, nil)
	mine, err := works(ctx, m.s, s, chip)
	if err != nil {
		return ctx.Err()
	}
	theirs, err := works(ctx, b, s, chip)
	if err != nil {
		return ctx.Err()
	}
	p := &record.Prediction{Chip: chip.String(), Shape: s, Kernel: total(mine, chip), Baseline: total(theirs, chip)}
	if len(mine) == len(theirs) {
		for i := range mine {
			a, b := changed(mine[i].Trace, theirs[i].Trace)
			mine[i].Edit, theirs[i].Edit = &machine.Edit{Free: a}, &machine.Edit{Free: b}
		}
		p.Free = min(p.Kernel, total(mine, chip), total(theirs, chip))
	}
	m.r.Prediction = p
	m.meter.step(m.weight(s))
	return nil
}

// foretells reports whether times are predicted.
func (m *measurement) foretells() bool {
	return m.p.Baseline != nil && m.p.Predict != (problem.Shape{}) && !timed(m.dev) && !m.r.Kernel.Same(m.r.Baseline)
}

// works returns the launches of a subject for predictions.
func works(ctx context.Context, s *Subject, shape problem.Shape, chip chips.Chip) (list []predict.Work, err error) {
	t, err := Trace(ctx, s, shape, chip.SMs, warptrace.Spread(foretold))
	if err != nil {
		return nil, err
	}
	for _, l := range t.Launches {
		list = append(list, predict.Work{Trace: l, Bytes: t.Bytes / int64(len(t.Launches)), Workspaces: t.Workspaces})
	}
	return list, nil
}

// total returns the predicted time of launches that run one after the other, in microseconds.
func total(list []predict.Work, chip chips.Chip) (micros float64) {
	for _, w := range list {
		micros += predict.Of(w, chip).Micros
	}
	return micros
}

// mostCells limits the table of a comparison of two programs.
const mostCells = 40e6

// changed returns the instructions of each program that the other one does not have, in order.
// Programs that are too long to be compared count as changed completely.
func changed(a, b *warptrace.Launch) (inA, inB machine.IDs) {
	x, y := normal(a), normal(b)
	from := 0
	for from < len(x) && from < len(y) && x[from] == y[from] {
		from++
	}
	endX, endY := len(x), len(y)
	for endX > from && endY > from && x[endX-1] == y[endY-1] {
		endX, endY = endX-1, endY-1
	}
	inA, inB = machine.IDs{}, machine.IDs{}
	for i := from; i < endX; i++ {
		inA[int32(i)] = true
	}
	for i := from; i < endY; i++ {
		inB[int32(i)] = true
	}
	if float64(endX-from)*float64(endY-from) > mostCells {
		return inA, inB
	}
	for _, pair := range common(x[from:endX], y[from:endY]) {
		delete(inA, int32(from+pair[0]))
		delete(inB, int32(from+pair[1]))
	}
	return inA, inB
}

// normal returns the instructions of a program without registers: opcodes and constants.
func normal(l *warptrace.Launch) []string {
	list := make([]string, len(l.Program))
	for i := range l.Program {
		in := &l.Program[i]
		text := in.Op.Text
		if in.Guard.Sym != nil {
			text = "@ " + text
		}
		for j := range in.Args {
			text += " " + constant(&in.Args[j])
		}
		list[i] = text
	}
	return list
}
