package lab

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
)

// changing are the inputs that the spoiler changes.
var changing = []string{"q", "k", "v"}

// mostDigests is the number of digests that a turn may have.
const mostDigests = 1 << 20

// spoiler gives timed launches inputs that they have not seen, and spoils their outputs. It is a
// timing.Spoiler.
//
// In each turn, about half of the elements of Q, K and V are negated at random. Before each pass,
// a few elements deep inside K and V of each set are negated too, and those of the pass before
// are restored. All sets have the same inputs apart from these few elements. Outputs and
// workspaces are overwritten with random bytes, and the variables of the module get their
// initial content. Before an output is overwritten, it is added to a digest, so that the
// outputs of all timed launches can be compared although each exists for a short time only.
type spoiler struct {
	dev    device.Streamer
	module device.Module
	kernel device.Kernel
	stream device.Stream
	state  device.Buffer
	// digests holds one number per set and pass of a turn.
	digests device.Buffer
	table   device.Buffer
	ranges  rangesOf
	sets    int
	random  *rand.Rand

	now  spoilState
	next uint32       // the number of the next pass
	runs []spoiledRun // the runs of the present turn
	used int          // the number of digests that are not zero
}

// rangesOf says where the parts of the table are. Variables are part of pass too.
type rangesOf struct{ turn, pass, variables part }

// part is a part of the table: its first range, the number of ranges, and how many blocks work on
// each.
type part struct{ at, n, chunks int }

// spoiledRun is some passes, with launches or of the spoiling alone.
type spoiledRun struct {
	passes   int
	launches bool
}

func newSpoiler(dev device.Device, random *rand.Rand) (s *spoiler, err error) {
	streams, ok := dev.(device.Streamer)
	if !ok {
		return nil, fmt.Errorf("%s has no streams", dev.Info().Name)
	}
	k := spoilKernel()
	k.Strict()
	text, err := k.PTX()
	if err != nil {
		return nil, err
	}
	s = &spoiler{dev: streams, random: random, next: random.Uint32()}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if s.module, err = dev.Load("spoil.ptx", text); err != nil {
		return s, err
	}
	if s.kernel, err = s.module.Kernel("spoil"); err != nil {
		return s, err
	}
	if s.stream, err = streams.NewStream(); err != nil {
		return s, err
	}
	if s.state, err = dev.Alloc(spoilStateBytes); err != nil {
		return s, err
	}
	if s.digests, err = dev.Alloc(4 * mostDigests); err != nil {
		return s, err
	}
	return s, s.digests.Write(0, make([]byte, 4*mostDigests))
}

func (s *spoiler) close() (err error) {
	for _, b := range []device.Buffer{s.state, s.digests, s.table} {
		if b != nil {
			err = errors.Join(err, b.Free())
		}
	}
	if s.stream != nil {
		err = errors.Join(err, s.stream.Close())
	}
	if s.module != nil {
		err = errors.Join(err, s.module.Close())
	}
	return err
}

// spoils makes the spoiler work on some sets. base holds the inputs that all others are derived
// from, and variables the initial content of the module's variables.
func (s *spoiler) spoils(sets []*bench, base map[string]device.Buffer, variables []variable) (err error) {
	var turn, pass []spoilRange
	for i, b := range sets {
		for id, name := range changing {
			o, elem := b.operand(name), elementBitsOf(formatOf(b.subject, name))
			if o == nil {
				continue
			}
			turn = append(turn, spoilRange{op: renewRange, to: o.addr(), words: uint64(o.Bytes) / 4, from: base[name].Addr(), elem: elem, id: uint64(id)})
			if name != "q" {
				pass = append(pass, spoilRange{op: flipRange, to: o.addr(), words: uint64(o.Bytes) / 4, elem: elem, id: flipID(i, id)})
			}
		}
		for n, o := range b.operands {
			if o.Role.Writable() {
				pass = append(pass, o.spoiled(b.subject, uint64(i), uint64(n)))
			}
		}
	}
	s.ranges.turn, s.ranges.pass = newPart(0, turn), newPart(len(turn), pass)
	var restored []spoilRange
	for _, v := range variables {
		restored = append(restored, spoilRange{op: copyRange, to: v.buffer.Addr(), words: uint64(v.buffer.Size()), from: v.initial.Addr()})
	}
	s.ranges.variables = newPart(len(turn)+len(pass), restored)
	s.ranges.pass.n += len(restored)
	s.ranges.pass.chunks = max(s.ranges.pass.chunks, s.ranges.variables.chunks)
	s.sets = len(sets)
	var text []byte
	for _, list := range [][]spoilRange{turn, pass, restored} {
		for i := range list {
			text = append(text, list[i].encode()...)
		}
	}
	if s.table != nil {
		if err := s.table.Free(); err != nil {
			return err
		}
	}
	if s.table, err = s.dev.Alloc(int64(len(text))); err != nil {
		return err
	}
	return s.table.Write(0, text)
}

// flipID returns the number by which the flips of an input of a set are random.
func flipID(set, input int) uint64 { return uint64(16 + 4*set + input) }

// spoiled returns the range of a writable operand. Only outputs have digests.
func (o *operand) spoiled(s *Subject, set, id uint64) spoilRange {
	r := spoilRange{op: fillRange, to: o.addr(), words: uint64(o.Bytes) / 4, digest: noDigest, id: 1<<20 + id}
	if o.Init != kernel.AsIs {
		r.op = zeroRange
	}
	if o.Role == kernel.Output {
		r.digest, r.from = set, uint64(digestOf(s, o.Name))
	}
	return r
}

// digestOf returns the kind of digest of an output. The outputs of a kernel that is not deterministic
// are only similar.
func digestOf(s *Subject, output string) digestKind {
	switch {
	case s.Deterministic():
		return bitDigest
	case output == "o" && s.Problem.Output == problem.F16:
		return f16Digest
	case output == "o" && s.Problem.Output == problem.BF16:
		return bf16Digest
	}
	return f32Digest
}

// similar returns how much two digests of a set may differ if the outputs of two runs differ by
// off in each element, root mean square. Signs are random, so differences of elements add up like
// steps of a random walk; deviations is far more than chance gives.
func similar(b *bench, off float64) uint32 {
	if b.subject.Deterministic() {
		return 0
	}
	const deviations = 8
	var elements float64
	for _, o := range b.operands {
		if o.Role == kernel.Output {
			elements += float64(o.Bytes) / 2
		}
	}
	return uint32(min(deviations*(digestUnit*off+1)*math.Sqrt(elements), 1<<30))
}

// newPart returns a part of the table with enough blocks for its largest range.
func newPart(at int, list []spoilRange) part {
	p := part{at, len(list), 1}
	for _, r := range list {
		if r.op != flipRange {
			p.chunks = max(p.chunks, int(min(r.words/(16*spoilThreads), 1024)))
		}
	}
	return p
}

// launch queues the spoiling of a part.
func (s *spoiler) launch(to device.Stream, p part, pass int) error {
	if p.n == 0 {
		return nil
	}
	return to.Launch(s.kernel, spoilLaunch(p.n, p.chunks, device.Ptr(s.table), device.U32(uint32(p.at)), device.Ptr(s.state), device.Ptr(s.digests),
		device.U32(mostDigests), device.U32(uint32(s.sets)), device.U32(uint32(p.chunks)), device.U32(uint32(pass))))
}

// Begin renews the inputs of all sets.
func (s *spoiler) Begin(ctx context.Context) error {
	s.now = spoilState{start: s.next, first: s.next, salt: s.random.Uint32(), turn: s.random.Uint32()}
	s.runs = nil
	return s.renew(ctx)
}

// renew writes the inputs of the turn, without flips, and clears the digests.
func (s *spoiler) renew(ctx context.Context) error {
	if err := s.digests.Write(0, make([]byte, 4*s.used)); err != nil {
		return err
	}
	s.used = 0
	if err := s.stream.Write(s.state, 0, s.now.encode()); err != nil {
		return err
	}
	if err := s.launch(s.stream, s.ranges.turn, 0); err != nil {
		return err
	}
	return s.stream.Sync(ctx)
}

// Next gives the next passes their numbers.
func (s *spoiler) Next(to device.Stream, passes int, launches bool) error {
	if s.used = (s.passes() + passes) * s.sets; s.used > mostDigests {
		return fmt.Errorf("a turn has more than %d launches, which is too many to compare their outputs", mostDigests)
	}
	s.now.start = s.next
	s.next += uint32(passes)
	s.runs = append(s.runs, spoiledRun{passes, launches})
	return to.Write(s.state, 0, s.now.encode())
}

// passes returns the number of passes of the turn.
func (s *spoiler) passes() (n int) {
	for _, r := range s.runs {
		n += r.passes
	}
	return n
}

// Spoil queues the spoiling before a pass.
func (s *spoiler) Spoil(to device.Stream, pass int) error { return s.launch(to, s.ranges.pass, pass) }

// collect ends the turn and returns the digest of each set in each pass.
func (s *spoiler) collect(ctx context.Context) ([]uint32, error) {
	n := s.passes() * s.sets
	err := s.Next(s.stream, 1, false)
	if err == nil {
		err = s.Spoil(s.stream, 0)
	}
	if err == nil {
		err = s.stream.Sync(ctx)
	}
	if err != nil {
		return nil, err
	}
	return s.read(n)
}

func (s *spoiler) read(n int) ([]uint32, error) {
	data := make([]byte, 4*n)
	if err := s.digests.Read(0, data); err != nil {
		return nil, err
	}
	list := make([]uint32, n)
	for i := range list {
		list[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	return list, nil
}

// again repeats the launches of the turn without timing and returns their digests. The sets are
// launched in another order, other bytes are in the outputs, and the variables of the module get
// their initial content before each launch, so a launch cannot use what an earlier one left.
func (s *spoiler) again(ctx context.Context, queue func(to device.Stream, set int) error) ([]uint32, error) {
	n := s.passes() - 1 // without the one of collect
	s.now.start, s.now.salt = s.now.first, s.random.Uint32()
	if err := s.renew(ctx); err != nil {
		return nil, err
	}
	s.used = n * s.sets
	pass := 0
	for _, r := range s.runs[:len(s.runs)-1] {
		for range r.passes {
			if err := s.Spoil(s.stream, pass); err != nil {
				return nil, err
			}
			pass++
			if !r.launches {
				continue
			}
			for _, set := range s.random.Perm(s.sets) {
				if err := errors.Join(s.launch(s.stream, s.ranges.variables, 0), queue(s.stream, set)); err != nil {
					return nil, err
				}
			}
		}
	}
	if err := errors.Join(s.Spoil(s.stream, pass), s.stream.Sync(ctx)); err != nil {
		return nil, err
	}
	return s.read(n * s.sets)
}

// launched reports for each pass of the turn whether it had launches.
func (s *spoiler) launched() (list []bool) {
	for _, r := range s.runs {
		for range r.passes {
			list = append(list, r.launches)
		}
	}
	return list
}

// applied does with an input on the host what the spoiler did with it on the device in the last
// pass.
func (s *spoiler) applied(data []byte, e elementBits, set, input int) {
	renewBytes(data, e, uint32(input), s.now.turn)
	if changing[input] != "q" {
		flipBytes(data, e, uint32(flipID(set, input)), s.next-1)
	}
}
