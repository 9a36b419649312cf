package hopper

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/internal/kerneltest"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

var repeat = flag.Duration("repeat", 5*time.Second, "how long TestCardRepeat launches")

// TestCardRepeat launches the chosen kernels many times, one shape after the other. Every
// launch must give the bits of the first one: ten thousand launches find a race that shows
// once in a thousand.
func TestCardRepeat(t *testing.T) {
	card := kerneltest.Card(t, ptx.SM90a)
	var all []*repeater
	for _, p := range repeated() {
		all = append(all, newRepeater(newBench(t, card, random(p)), Choose(p, card.Info().SMs)))
	}
	wrong := map[*repeater]bool{}
	for end := time.Now().Add(*repeat); time.Now().Before(end) && len(wrong) < len(all); {
		for _, r := range all {
			if wrong[r] {
				continue
			}
			if err := r.turn(t.Context()); err != nil {
				t.Errorf("%v: %v", r, err)
				wrong[r] = true
			}
		}
	}
	for _, r := range all {
		t.Logf("%7d launches of %v", r.launches, r)
	}
}

// repeated returns problems for all designs: with few and with many blocks, with whole and with
// partial tiles, causal ones, and ones whose heads share K and V.
func repeated() (all []problem.Attention) {
	for _, d := range []int{64, 128, 256} {
		causal := square(1, 8, 2048, d, problem.E4M3)
		causal.Causal = true
		shared := square(2, 16, 1000, d, problem.E4M3)
		shared.Hkv, shared.LSE = 2, true
		bigCausal := square(1, 2048/d, 4096, d, problem.E5M2)
		bigCausal.Causal, bigCausal.Hkv = true, 256/d
		all = append(all,
			square(1, 8, 512, d, problem.E4M3), square(2, 8, 256, d, problem.E4M3), square(1, 8, 777, d, problem.E4M3), square(1, 8, 2048, d, problem.E4M3),
			causal, shared, square(2, 2048/d, 4096, d, problem.E4M3), bigCausal)
	}
	return all
}

// repeater launches a kernel many times and has the device itself compare the outputs,
// because reading a large output back takes longer than computing it.
type repeater struct {
	*bench
	config   Config
	kernel   device.Kernel
	launch   device.Launch
	compare  device.Kernel
	stream   device.Stream
	outputs  []output
	counts   device.Buffer // for each launch of a turn: the number of words that differ, and the least index of one
	size     int           // launches a turn
	launches int           // so far
	// between is queued after a launch and before the comparison, if it is set.
	between func(s device.Stream, launch int) error
}

// output is something that a kernel writes, and what the first launch wrote.
type output struct{ got, first device.Buffer }

const (
	mostLaunches = 2048 // a turn
	aTurn        = 20 * time.Millisecond
)

func newRepeater(b *bench, c Config) *repeater {
	b.T.Helper()
	r := &repeater{bench: b, config: c, size: 4}
	r.kernel, r.launch = b.load(c)
	r.compare = kerneltest.Load(b.T, b.Dev, differing(), nil)
	stream, err := b.Dev.(device.Streamer).NewStream()
	if err != nil {
		b.T.Fatal(err)
	}
	b.T.Cleanup(func() { stream.Close() })
	r.stream = stream
	r.counts = kerneltest.Buffer(b.T, b.Dev, make([]byte, 8*mostLaunches))
	r.outputs = append(r.outputs, output{b.O, kerneltest.Buffer(b.T, b.Dev, make([]byte, b.O.Size()))})
	if b.LSE != nil {
		r.outputs = append(r.outputs, output{b.LSE, kerneltest.Buffer(b.T, b.Dev, make([]byte, b.LSE.Size()))})
	}
	return r
}

func (r *repeater) String() string { return fmt.Sprintf("%v by %v", r.In.P, r.config) }

// turn launches a number of times and compares each launch with the very first. What is
// not written is found too: outputs are filled with another byte before each launch. The
// next turn has more launches if this one was short.
func (r *repeater) turn(ctx context.Context) error {
	start := time.Now()
	none := make([]byte, 8*r.size)
	for i := range r.size {
		binary.LittleEndian.PutUint32(none[8*i+4:], ^uint32(0))
	}
	if err := r.counts.Write(0, none); err != nil {
		return err
	}
	for i := range r.size {
		if err := r.once(i); err != nil {
			return err
		}
	}
	if err := r.stream.Sync(ctx); err != nil {
		return err
	}
	found := make([]byte, 8*r.size)
	if err := r.counts.Read(0, found); err != nil {
		return err
	}
	for i := range r.size {
		words, at := binary.LittleEndian.Uint32(found[8*i:]), binary.LittleEndian.Uint32(found[8*i+4:])
		if words > 0 {
			return fmt.Errorf("launch %d gives other bits than the first: %d words differ, word %d before all others", r.launches-r.size+i, words, at)
		}
	}
	if time.Since(start) < aTurn {
		r.size = min(2*r.size, mostLaunches)
	}
	return nil
}

// once queues the i-th launch of a turn and its comparison with the very first launch.
func (r *repeater) once(i int) error {
	for _, o := range r.outputs {
		if err := r.stream.Fill(o.got, byte(7*r.launches+1)); err != nil {
			return err
		}
	}
	if err := r.stream.Launch(r.kernel, r.launch); err != nil {
		return err
	}
	if r.between != nil {
		if err := r.between(r.stream, r.launches); err != nil {
			return err
		}
	}
	for _, o := range r.outputs {
		if r.launches == 0 {
			if err := r.stream.Copy(o.first, o.got); err != nil {
				return err
			}
			continue
		}
		words := uint32(o.got.Size() / 4)
		l := device.Launch{
			Grid: device.D(min(int(words+255)/256, 1024)), Block: device.D(256),
			Params: []device.Param{device.Ptr(o.got), device.Ptr(o.first), device.Ptr(r.counts), device.U32(uint32(i)), device.U32(words)},
		}
		if err := r.stream.Launch(r.compare, l); err != nil {
			return err
		}
	}
	r.launches++
	return nil
}

// differing counts the words in which two buffers differ, and finds the first of them.
func differing() *build.Kernel {
	k := build.New("differing", ptx.SM90)
	a, b, counts := build.ParamGlobal[build.U32](k, "a"), build.ParamGlobal[build.U32](k, "b"), build.ParamGlobal[build.U32](k, "counts")
	launch, n := k.ParamU32("launch"), k.ParamU32("n")
	here := launch.Shl(k.U32(1))
	first := k.CtaidX().MadLo(k.NtidX(), k.TidX())
	k.Loop(first, n, k.NctaidX().MulLo(k.NtidX()), func(i build.U32) {
		k.If(a.At(i).Ld().SetpNe(b.At(i).Ld()), func() {
			counts.At(here).Red(build.AtomicAdd, k.U32(1))
			counts.At(here.Add(k.U32(1))).Red(build.AtomicMin, i)
		})
	})
	return k
}

// TestRepeat repeats launches on the emulator. The bits are the same each time. The repeater
// finds one changed byte in either output, and an output that is not written.
func TestRepeat(t *testing.T) {
	p := square(1, 2, 70, 64, problem.E4M3)
	p.LSE = true
	in := generate(t, "normal", p, 1)
	change := func(to device.Buffer, at int64, launch int) func(device.Stream, int) error {
		return func(s device.Stream, n int) error {
			if n != launch {
				return nil
			}
			data := make([]byte, 1)
			if err := to.Read(at, data); err != nil {
				return err
			}
			return s.Write(to, at, []byte{data[0] ^ 0x10})
		}
	}
	for _, c := range []struct {
		name  string
		spoil func(r *repeater)
		want  string
	}{
		{"nothing", func(*repeater) {}, ""},
		{"O", func(r *repeater) { r.between = change(r.O, 4*1001+3, 6) }, "launch 6 gives other bits than the first: 1 words differ, word 1001 "},
		{"LSE", func(r *repeater) { r.between = change(r.LSE, 4*139, 1) }, "launch 1 gives other bits than the first: 1 words differ, word 139 "},
		{"what nobody writes", func(r *repeater) {
			idle := []device.Param{device.Ptr(r.O), device.Ptr(r.O), device.Ptr(r.O), device.U32(0), device.U32(0)}
			r.kernel, r.launch = r.compare, device.Launch{Grid: device.D(1), Block: device.D(32), Params: idle}
		}, "launch 1 gives other bits than the first: 4620 words differ, word 0 "},
	} {
		r := newRepeater(newBench(t, emulator(t, 0, nil), in), Choose(p, 132))
		c.spoil(r)
		err := r.turn(t.Context())
		if err == nil {
			err = r.turn(t.Context())
		}
		switch {
		case c.want == "" && (err != nil || r.launches < 8):
			t.Errorf("%s: %d launches, %v", c.name, r.launches, err)
		case c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestRepeated: the repeated problems are of every kind, and the chosen configurations
// compute them.
func TestRepeated(t *testing.T) {
	var causal, shared, lse int
	for _, p := range repeated() {
		if err := Choose(p, 132).Check(p); err != nil {
			t.Errorf("%v: %v", p, err)
		}
		for n, is := range map[*int]bool{&causal: p.Causal, &shared: p.Hq == 8*p.Hkv, &lse: p.LSE} {
			if is {
				*n++
			}
		}
	}
	if causal == 0 || shared == 0 || lse == 0 {
		t.Errorf("%d causal, %d with shared heads, %d with LSE", causal, shared, lse)
	}
}
