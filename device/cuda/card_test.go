package cuda_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/cuda"
	"github.com/GOATnote-Inc/attest/examples"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// loadKernel loads a module and returns one of its kernels.
func loadKernel(t testing.TB, d *cuda.Device, name, text, kernel string) device.Kernel {
	t.Helper()
	m, err := d.Load(name, text)
	check(t, err)
	k, err := m.Kernel(kernel)
	check(t, err)
	return k
}

func newStream(t testing.TB, d *cuda.Device) device.Stream {
	t.Helper()
	s, err := d.NewStream()
	check(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// countText is a kernel that adds n to a word, once per block.
const countText = `.version 7.8
.target sm_52
.address_size 64
.visible .entry count(.param .u64 p, .param .u32 n)
{
	.reg .b64 %a;
	.reg .b32 %n, %t;
	.reg .pred %q;
	ld.param.u64 %a, [p];
	ld.param.u32 %n, [n];
	mov.u32 %t, %tid.x;
	setp.eq.u32 %q, %t, 0;
	@%q red.global.add.u32 [%a], %n;
	ret;
}
`

// counter returns a zero word on the GPU, a launch that adds to it, and a function that reads
// it.
func counter(t testing.TB, d *cuda.Device) (l device.Launch, b device.Buffer, value func() uint32) {
	t.Helper()
	b, err := d.Alloc(4)
	check(t, err)
	check(t, b.Write(0, make([]byte, 4)))
	l = device.Launch{Grid: device.D(2), Block: device.D(32), Params: []device.Param{device.Ptr(b), device.U32(1)}}
	return l, b, func() uint32 {
		data := make([]byte, 4)
		check(t, b.Read(0, data))
		return binary.LittleEndian.Uint32(data)
	}
}

func TestListAndInfo(t *testing.T) {
	d := gpu(t)
	infos, err := cuda.List()
	check(t, err)
	i := d.Info()
	if infos[0] != i {
		t.Errorf("listed as %+v, opened as %+v", infos[0], i)
	}
	t.Logf("%+v", i)
	if i.Name == "" || i.SMs == 0 || i.L2 == 0 || i.Memory == 0 || i.Bus == "" || i.UUID == "" || i.ThreadsPerSM == 0 || !strings.Contains(i.Version, "driver") {
		t.Error("a property is missing")
	}
	if _, err := cuda.Open(len(infos)); !errors.Is(err, device.ErrNoDevice) {
		t.Errorf("a GPU that does not exist: %v", err)
	}
}

// TestStream queues copies, a launch, fills and events in a stream.
func TestStream(t *testing.T) {
	d := gpu(t)
	k := loadKernel(t, d, "count.ptx", countText, "count")
	l, b, _ := counter(t, d)
	s, other := newStream(t, d), newStream(t, d)
	h, err := d.AllocHost(4)
	check(t, err)
	c, err := d.Alloc(4)
	check(t, err)
	start, err := d.NewEvent()
	check(t, err)
	end, err := d.NewEvent()
	check(t, err)
	binary.LittleEndian.PutUint32(h.Bytes(), 40)
	back := make([]byte, 4) // ordinary Go memory
	for _, err := range []error{
		s.Record(start), s.Write(b, 0, h.Bytes()), s.Launch(k, l), s.Record(end),
		other.Wait(end), other.Copy(c, b), other.Fill(b, 0xff), other.Read(c, 0, back), other.Sync(t.Context()),
	} {
		check(t, err)
	}
	if got := binary.LittleEndian.Uint32(back); got != 42 {
		t.Errorf("40 + 2 = %d", got)
	}
	check(t, s.Read(b, 0, h.Bytes()))
	check(t, s.Sync(t.Context()))
	if !bytes.Equal(h.Bytes(), []byte{255, 255, 255, 255}) {
		t.Errorf("filled with %v", h.Bytes())
	}
	took, err := end.Since(start)
	check(t, err)
	if took <= 0 || took.Seconds() > 1 {
		t.Errorf("it took %v", took)
	}
	if done, err := s.Done(); !done || err != nil {
		t.Errorf("%v, %v", done, err)
	}
	for _, err := range []error{start.Close(), end.Close(), h.Free(), b.Free(), c.Free()} {
		check(t, err)
	}
}

// TestOrder checks that calls outside streams take effect after the work in streams.
func TestOrder(t *testing.T) {
	d := gpu(t)
	k := loadKernel(t, d, "count.ptx", countText, "count")
	l, _, value := counter(t, d)
	s := newStream(t, d)
	for round := range 20 {
		for range 50 {
			check(t, s.Launch(k, l))
		}
		if got := value(); got != uint32(100*(round+1)) {
			t.Fatalf("round %d: %d", round, got)
		}
	}
}

func TestGraph(t *testing.T) {
	d := gpu(t)
	k := loadKernel(t, d, "count.ptx", countText, "count")
	l, b, value := counter(t, d)
	s := newStream(t, d)
	const launches, replays = 100, 50
	n := l.Params[1]
	g, err := d.NewGraph(func(s device.Stream) error {
		var errs []error
		for i := range launches {
			one := l
			one.Dependent = d.Info().Target.SM >= 90 && i%2 == 1
			errs = append(errs, s.Launch(k, one))
		}
		return errors.Join(errs...)
	})
	check(t, err)
	n[0] = 9 // the graph has a copy
	if got := value(); got != 0 {
		t.Errorf("recording the graph ran a launch: %d", got)
	}
	for range replays {
		check(t, g.Replay(s))
	}
	check(t, s.Sync(t.Context()))
	if got := value(); got != 2*launches*replays {
		t.Errorf("%d, want %d", got, 2*launches*replays)
	}
	check(t, g.Close())
	if _, err := d.NewGraph(func(s device.Stream) error { return errors.New("mine") }); err == nil || err.Error() != "mine" {
		t.Error(err)
	}
	check(t, b.Free())
}

// TestManyLaunches makes 10,000 launches from many goroutines: some wait, some use their own
// streams, some share one stream.
func TestManyLaunches(t *testing.T) {
	d := gpu(t)
	k := loadKernel(t, d, "count.ptx", countText, "count")
	l, _, value := counter(t, d)
	common := newStream(t, d)
	const workers, each = 40, 250
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			own, err := d.NewStream()
			if err != nil {
				t.Error(err)
				return
			}
			defer own.Close()
			for range each {
				switch w % 3 {
				case 0:
					err = k.Launch(t.Context(), l)
				case 1:
					err = own.Launch(k, l)
				default:
					err = common.Launch(k, l)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
			if err := own.Sync(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	check(t, common.Sync(t.Context()))
	if got := value(); got != 2*workers*each {
		t.Errorf("%d blocks ran, want %d", got, 2*workers*each)
	}
}

// TestManyModules checks that loading, running and closing modules does not leak memory.
// Other processes may use the GPU meanwhile, so only memory that is lost in every round
// counts as a leak.
func TestManyModules(t *testing.T) {
	d := gpu(t)
	l, _, value := counter(t, d)
	round := func(i int) {
		text := strings.Replace(countText, "ret;", fmt.Sprintf("// %d\n\tadd.u32 %%n, %%n, %d;\n\tret;", i, i), 1)
		m, err := d.Load("count.ptx", text)
		check(t, err)
		k, err := m.Kernel("count")
		check(t, err)
		check(t, k.Launch(t.Context(), l))
		check(t, m.Close())
	}
	const warm, rounds, modules = 50, 4, 250
	for i := range warm {
		round(i)
	}
	resident := rss(t)
	lost := []int64{}
	for range rounds {
		before, err := d.FreeMemory()
		check(t, err)
		for i := range modules {
			round(i)
		}
		after, err := d.FreeMemory()
		check(t, err)
		lost = append(lost, before-after)
	}
	grown := rss(t) - resident
	t.Logf("lost on the GPU: %d bytes, in each round; the process grew by %d", lost, grown)
	if slices.Min(lost) > 4<<20 || grown > 128<<20 {
		t.Error("memory leaks")
	}
	if got := value(); got != 2*(warm+rounds*modules) {
		t.Errorf("%d blocks ran", got)
	}
}

// rss returns the resident memory of the process in bytes.
func rss(t testing.TB) int64 {
	t.Helper()
	runtime.GC()
	data, err := os.ReadFile("/proc/self/statm")
	check(t, err)
	var size, resident int64
	_, err = fmt.Sscan(string(data), &size, &resident)
	check(t, err)
	return resident * int64(os.Getpagesize())
}

// TestRelocatable checks that relocatable code, new or from the cache, gives the same results.
func TestRelocatable(t *testing.T) {
	gpu(t)
	dir := t.TempDir()
	for range 2 {
		d, err := cuda.OpenWith(0, cuda.Options{JIT: cuda.JIT{Relocatable: true}, CacheDir: dir})
		check(t, err)
		k := loadKernel(t, d, "count.ptx", countText, "count")
		l, _, value := counter(t, d)
		check(t, k.Launch(t.Context(), l))
		if got := value(); got != 2 {
			t.Errorf("%d", got)
		}
		check(t, d.Close())
	}
}

// TestCompilers logs the resources of the examples for both ways of compiling.
func TestCompilers(t *testing.T) {
	d := gpu(t)
	for _, k := range examples.All() {
		text, err := k.PTX()
		check(t, err)
		for _, j := range []cuda.JIT{{}, {Relocatable: true}, {MaxRegisters: 128}, {Level: new(0)}, {LineInfo: true}} {
			m, err := d.LoadWith(k.Name()+".ptx", text, j)
			check(t, err)
			f, err := m.Kernel(k.Name())
			check(t, err)
			i := f.Info()
			t.Logf("%-12s %-16s %3d registers, %5d bytes shared, %4d local", i.Name, j, i.Registers, i.Shared, i.Local)
			check(t, m.Close())
		}
	}
}
