package lab

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ref"
	"github.com/GOATnote-Inc/attest/timing"
)

// timedInputs is the distribution of timed inputs. With zeros, a GPU would draw less power and
// run faster.
const timedInputs = "normal"

// contestant is a kernel that is timed on a shape, with its memory.
type contestant struct {
	*loaded
	first     Case                     // the case of the first inputs
	input     *inputs                  // the first inputs, from which the spoiler derives all others
	output    outputs                  // the output of the first inputs, until it is judged
	base      map[string]device.Buffer // the same on the device
	want      *ref.Result              // the reference of the first inputs, for some rows
	rmse      float64                  // the root mean square error of the kernel on these rows
	plain     float64                  // the same of a plain computation, from the quantised inputs
	sets      []*bench
	bytes     int64 // the bytes of one set
	random    *rand.Rand
	spoiler   *spoiler
	variables []variable
	inUse     int // the number of sets that the current method launches on
	compared  int // the number of timed launches whose outputs were compared, by the current method
	wrong     string
}

func (m *measurement) newContestant(ctx context.Context, s *Subject, shape problem.Shape) (*contestant, error) {
	l, err := load(m.dev, s, 0, m.p.Seed)
	if err != nil {
		return nil, err
	}
	c := &contestant{loaded: l, base: map[string]device.Buffer{}, random: rand.New(rand.NewPCG(m.p.Times.Seed, 1))}
	if c.variables, err = findVariables(l.Program); err == nil {
		c.spoiler, err = newSpoiler(m.dev, c.random)
	}
	if err == nil {
		err = m.rehearse(ctx, c, shape)
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// rehearse runs the kernel once on the first inputs and keeps the output.
func (m *measurement) rehearse(ctx context.Context, c *contestant, shape problem.Shape) error {
	c.first = Case{Shape: shape, Seed: m.p.Times.Seed, Distribution: timedInputs, vary: c.subject.own()}
	in, err := newInputs(c.subject, c.first)
	if err != nil {
		return err
	}
	c.input = in
	for _, name := range changing {
		if c.base[name], err = c.Device().Alloc(int64(len(in.data[name]))); err != nil {
			return err
		}
		if err := c.base[name].Write(0, in.data[name]); err != nil {
			return err
		}
	}
	if err := c.add(); err != nil {
		return err
	}
	c.output, err = c.sets[0].run(ctx)
	return err
}

// judgeFirst compares the output of the first inputs with the reference. The reference is computed
// after the run, so the kernel cannot find it in memory.
func (m *measurement) judgeFirst(ctx context.Context, c *contestant) error {
	r, err := m.p.References.findBare(ctx, c.subject, c.first, c.input, m.p.Times.rows(c.first.Shape))
	if err != nil {
		return err
	}
	judged, err := c.check(r, c.first, c.input, c.output)
	c.want, c.rmse, c.plain, c.output = r.original, judged, r.plainDequantised.RMSE, outputs{}
	return err
}

const (
	rowsOfTimes   = 512 // the rows of an output that are compared with the reference before it is timed
	rowsAfterward = 64  // the rows of an output that are compared with the reference after it was timed
)

// rows returns how many rows of an output are compared with the reference before it is timed.
func (t *Times) rows(s problem.Shape) int {
	if t.Pairs == 0 {
		return rowsOfTimes
	}
	return min(max(t.Pairs/s.Skv, rowsAfterward), rowsOfTimes)
}

// check judges an output like the correctness gate, and stores what is wrong with it. It returns
// the root mean square error.
func (c *contestant) check(r *reference, one Case, in *inputs, out outputs) (rmse float64, err error) {
	got, err := in.outputTensor(c.subject, out.o)
	if err != nil {
		return 0, err
	}
	judged := r.blank(one)
	if err := r.judge(&judged, got); err != nil {
		return 0, err
	}
	out.clearUnused(in.usedBytes(c.subject), nil)
	if n := unwritten(out.o, c.subject.Problem.Output.Bytes()); n > 0 {
		c.blame("the kernel never wrote " + english.Count(n, "element") + " of the output")
	} else if why := gate.Within(gate.Tolerance, c.subject.Problem, &judged); len(why) > 0 {
		c.blame(why[0])
	}
	return judged.Errors.RMSE, nil
}

// blame stores what is wrong with the kernel, unless something is known already.
func (c *contestant) blame(why string) {
	if c.wrong == "" {
		c.wrong = why
	}
}

// add allocates one more set of buffers and writes the inputs.
func (c *contestant) add() error {
	b, err := c.set(c.input)
	if err != nil {
		return err
	}
	c.sets = append(c.sets, b)
	c.bytes = 0
	for _, o := range b.operands {
		c.bytes += o.Bytes
	}
	return errors.Join(b.write(c.input), b.spoil())
}

const (
	fewestWarmSets = 2
	mostWarmSets   = 8
)

// warmSets returns the number of sets for a graph with a warm cache. Together they take a quarter
// of the L2 cache at most, so that all of them stay there. With more sets the spoiling, which
// comes once per pass, is a smaller part of the time.
func warmSets(dev device.Info, bytes int64) int {
	return int(min(max(dev.L2/4/max(bytes, 1), fewestWarmSets), mostWarmSets))
}

// candidate returns the kernel as a candidate for a method.
func (c *contestant) candidate(ctx context.Context, t *timing.Timer, m timing.Method) (*timing.Timed, error) {
	c.inUse, c.compared = 1, 0
	switch {
	case m.Mode == timing.Graph && m.Cache == timing.Cold:
		c.inUse = timing.ColdSets(c.Device().Info(), c.bytes)
	case m.Mode == timing.Graph:
		c.inUse = warmSets(c.Device().Info(), c.bytes)
	}
	for len(c.sets) < c.inUse {
		if err := c.add(); err != nil {
			return nil, err
		}
	}
	if err := c.spoiler.spoils(c.sets[:c.inUse], c.base, c.variables); err != nil {
		return nil, err
	}
	if err := c.spoiler.Begin(ctx); err != nil {
		return nil, err
	}
	work := timing.Work{Name: c.subject.Name, Sets: c.inUse, Bytes: c.bytes, Queue: c.queue, Spoiler: c.spoiler}
	if m.Mode == timing.Graph {
		return t.GraphReplay(ctx, work, m.Cache, m.Launches)
	}
	return t.EventTime(work, m.Cache)
}

// alone returns the kernel without the spoiling of its outputs, whose energy would count too.
func (c *contestant) alone(ctx context.Context, t *timing.Timer, m timing.Method) (*timing.Timed, error) {
	return t.GraphReplay(ctx, timing.Work{Name: c.subject.Name, Sets: c.inUse, Bytes: c.bytes, Queue: c.queue}, m.Cache, m.Launches)
}

// witness compares the outputs of all timed launches of a turn with those of untimed launches on
// the same inputs.
func (c *contestant) witness(ctx context.Context, round int) {
	if c.wrong != "" {
		return
	}
	why, err := c.look(ctx)
	if err != nil {
		why = err.Error()
	}
	if why != "" {
		c.blame(fmt.Sprintf("round %d: %s", round, why))
	}
}

func (c *contestant) look(ctx context.Context) (string, error) {
	timed, err := c.spoiler.collect(ctx)
	if err != nil {
		return "", err
	}
	alone, err := c.spoiler.again(ctx, c.queue)
	if err != nil {
		return "", err
	}
	launches, wrong, near := 0, 0, similar(c.sets[0], c.plain)
	for pass, launched := range c.spoiler.launched() {
		for set := 0; launched && set < c.inUse; set++ {
			launches++
			if at := pass*c.inUse + set; min(timed[at]-alone[at], alone[at]-timed[at]) > near {
				wrong++
			}
		}
	}
	c.compared += launches
	if wrong > 0 {
		return fmt.Sprintf("%d of %s gave another output than an untimed launch on the same inputs", wrong, english.Count(launches, "timed launch")), nil
	}
	return c.harmed()
}

// harmed checks the guard bands of all sets.
func (c *contestant) harmed() (string, error) {
	for _, b := range c.sets[:c.inUse] {
		over, err := b.overrun()
		if err != nil {
			return "", err
		}
		if len(over) > 0 {
			return fmt.Sprintf("memory around %v was written", over), nil
		}
	}
	return "", nil
}

// afterward compares the inputs of one set with what the host computes, and its outputs on
// further inputs with the reference. These inputs differ from the last ones in one element of 16
// at random places, so a kernel that recognises its inputs by a few bytes, and has stored
// results where nothing restores them, gives a wrong output.
func (m *measurement) afterward(ctx context.Context, c *contestant) error {
	if c.wrong != "" {
		return nil
	}
	set := c.random.IntN(c.inUse)
	b, in := c.sets[set], *c.input
	in.data = map[string][]byte{}
	for name, data := range c.input.data {
		in.data[name] = slices.Clone(data)
	}
	for i, name := range changing {
		c.spoiler.applied(in.data[name], elementBitsOf(formatOf(c.subject, name)), set, i)
	}
	changed, err := b.changed(&in)
	if err != nil {
		return err
	}
	if len(changed) > 0 {
		c.blame(fmt.Sprintf("timed launches changed the inputs %v", changed))
		return nil
	}
	tries := 3
	if in.shape.Q().Len()+in.shape.K().Len() > 1<<23 {
		tries = 1 // the reference of large inputs takes seconds
	}
	for range tries {
		other := in
		other.data = maps.Clone(in.data)
		for _, name := range changing {
			other.data[name] = c.sparselyNegated(in.data[name], elementBitsOf(formatOf(c.subject, name)))
		}
		if err := c.onceMore(ctx, b, &other); err != nil {
			return err
		}
	}
	return nil
}

// sparselyNegated returns an input with one of 16 elements negated.
func (c *contestant) sparselyNegated(data []byte, e elementBits) []byte {
	data = slices.Clone(data)
	seed := c.random.Uint64()
	eachPiece(data, func(first int, piece []byte) {
		r := rand.New(rand.NewPCG(seed, uint64(first)))
		for i := 0; i+4 <= len(piece); i += 4 {
			x := r.Uint64() & r.Uint64()
			w := binary.LittleEndian.Uint32(piece[i:])
			binary.LittleEndian.PutUint32(piece[i:], w^e.mask(uint32(x)&uint32(x>>32)))
		}
	})
	return data
}

// eachPiece calls a function for all pieces of data on all cores. Each begins at a multiple of 4 bytes.
func eachPiece(data []byte, do func(first int, piece []byte)) {
	const size = 1 << 20
	parallel((len(data)+size-1)/size, func(n int) { do(n*size, data[n*size:min((n+1)*size, len(data))]) })
}

// onceMore runs the kernel on further inputs and compares some rows of the output with the
// reference.
func (c *contestant) onceMore(ctx context.Context, b *bench, in *inputs) error {
	if err := b.write(in); err != nil {
		return err
	}
	out, err := b.run(ctx)
	if err != nil {
		return err
	}
	if err := in.decode(c.subject); err != nil {
		return err
	}
	one := Case{Shape: in.shape, Seed: c.random.Uint64(), Distribution: timedInputs}
	r, err := bareReference(ctx, c.subject, one, in, rowsAfterward)
	if err != nil {
		return err
	}
	_, err = c.check(r, one, in, out)
	return err
}

func (c *contestant) close() (err error) {
	for _, b := range c.sets {
		err = errors.Join(err, b.free())
	}
	for _, b := range c.base {
		if b != nil {
			err = errors.Join(err, b.Free())
		}
	}
	for _, v := range c.variables {
		err = errors.Join(err, v.initial.Free())
	}
	if c.spoiler != nil {
		err = errors.Join(err, c.spoiler.close())
	}
	return errors.Join(err, c.loaded.close())
}

// queue queues a launch on a set.
func (c *contestant) queue(s device.Stream, set int) error {
	return c.sets[set].work.Queue(s)
}
