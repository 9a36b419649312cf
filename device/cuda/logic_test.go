package cuda

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"attest/device"
	"attest/ptx"
)

const kernelText = `.version 8.0
.target sm_90
.address_size 64
.file 1 "scale.cu"
.visible .entry scale(.param .u8 first, .param .u64 p, .param .align 64 .b8 map[128], .param .u32 n)
{
	.reg .b32 %r<3>;
	.loc 1 12 3
	mov.u32 %r1, 1;
	add.u32 %r2, %r1,
		%r1;
	.loc 1 13 3
	mov.u32 %r0, %r2;
	ret;
}
`

func launchOf(n uint32) device.Launch {
	return device.Launch{
		Grid: device.D(4, 2), Block: device.D(128),
		Params: []device.Param{device.U8(9), device.U64(0x1122334455667788), bytes.Repeat([]byte{7}, 128), device.U32(n)},
	}
}

// scaleOf loads the kernel on a fake GPU.
func scaleOf(t testing.TB, d *Device) *kernel {
	t.Helper()
	m, err := d.Load("scale.ptx", kernelText)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("scale")
	if err != nil {
		t.Fatal(err)
	}
	return k.(*kernel)
}

func TestInfo(t *testing.T) {
	f := newFake()
	if err := f.start(); err != nil {
		t.Fatal(err)
	}
	infos, err := f.list()
	if err != nil || len(infos) != 1 {
		t.Fatal(infos, err)
	}
	want := device.Info{
		Name: "Fake GPU", Driver: "cuda", Target: ptx.SM90a, SMs: 132, SharedPerSM: 233472, SharedDefault: 49152, SharedMax: 232448,
		Memory: 141 << 30, MaxThreads: 1024, Version: "CUDA 13.0, driver 580.00.01", L2: 60 << 20, Clock: 1980, MemoryClock: 3201,
		MemoryBusBits: 6144, ThreadsPerSM: 2048, RegistersPerSM: 65536, Bus: "0000:3b:00.0",
		UUID: "GPU-ab000000-0000-0000-0000-000000000001",
	}
	if infos[0] != want {
		t.Errorf("got  %+v\nwant %+v", infos[0], want)
	}
}

// TestNoDevice: a machine without a GPU is told from a broken one.
func TestNoDevice(t *testing.T) {
	for name, change := range map[string]func(*fake){
		"no GPU at init": func(f *fake) { f.init = func(uint32) result { return noDevice } },
		"stub library":   func(f *fake) { f.init = func(uint32) result { return stubLibrary } },
		"not a driver":   func(f *fake) { absent(&f.init) },
		"no GPU":         func(f *fake) { f.deviceGetCount = func(n *int32) result { *n = 0; return success } },
	} {
		f := newFake()
		change(f)
		err := f.start()
		if err == nil {
			_, err = f.list()
		}
		if !errors.Is(err, device.ErrNoDevice) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f := newFake()
	if _, err := f.open(3, Options{}); !errors.Is(err, device.ErrNoDevice) || !strings.Contains(err.Error(), "no GPU 3; there are 1") {
		t.Error(err)
	}
	f.init = func(uint32) result { return 803 }
	if err := f.start(); err == nil || errors.Is(err, device.ErrNoDevice) {
		t.Errorf("a broken driver: %v", err)
	}
}

// TestMissingEntries: what an old driver lacks fails with its name, and only that.
func TestMissingEntries(t *testing.T) {
	f := newFake("cuTensorMapEncodeTiled", "cuStreamBeginCapture", "cuLinkCreate", "cuDeviceGetUuid", "cuGetErrorName")
	f.driverGetVersion = func(v *int32) result { *v = 11040; return success }
	d := openFake(t, f, Options{})
	desc := device.TensorDesc{Type: ptx.F32, Addr: 256, Dims: []uint64{64}, Box: []uint32{32}}
	_, tensor := d.TensorMap(desc)
	_, graph := d.NewGraph(func(device.Stream) error { return nil })
	_, link := d.LoadWith("a.ptx", kernelText, JIT{Relocatable: true})
	for _, c := range []struct {
		err          error
		entry, since string
	}{{tensor, "cuTensorMapEncodeTiled", "12.0"}, {graph, "cuStreamBeginCapture", "10.1"}, {link, "cuLinkCreate", "6.5"}} {
		var m *MissingError
		if !errors.As(c.err, &m) || m.Entry != c.entry || m.Since != c.since || m.Have != "11.4" {
			t.Errorf("%v, want a missing %s", c.err, c.entry)
		}
	}
	if d.Info().UUID != "" {
		t.Errorf("there is a UUID: %s", d.Info().UUID)
	}
	if _, err := d.Alloc(1 << 50); err == nil || !strings.Contains(err.Error(), "unknown result (2)") {
		t.Errorf("an error without a name: %v", err)
	}
	k := scaleOf(t, d) // and everything else works
	if err := k.Launch(t.Context(), launchOf(1)); err != nil {
		t.Error(err)
	}
}

// TestOldLaunch: before CUDA 11.8 there is another entry for a plain launch, and none
// for the rest.
func TestOldLaunch(t *testing.T) {
	f := newFake("cuLaunchKernelEx")
	f.driverGetVersion = func(v *int32) result { *v = 11040; return success }
	k := scaleOf(t, openFake(t, f, Options{}))
	if err := k.Launch(t.Context(), launchOf(1)); err != nil {
		t.Error(err)
	}
	l := launchOf(1)
	l.Cluster = device.D(2)
	var m *MissingError
	if err := k.Launch(t.Context(), l); !errors.As(err, &m) || m.Entry != "cuLaunchKernelEx" || m.Since != "11.8" {
		t.Error(err)
	}
}

// TestPacking: the driver finds each parameter where its pointer says, aligned, and the
// attributes that were asked for.
func TestPacking(t *testing.T) {
	f := newFake()
	k := scaleOf(t, openFake(t, f, Options{}))
	var attrs map[int32][3]uint32
	var cfg launchConfig
	f.onLaunch = func(c *launchCall) result {
		cfg = c.cfg
		attrs = map[int32][3]uint32{}
		for _, a := range unsafe.Slice((*launchAttr)(c.cfg.attrs), c.cfg.numAttrs) {
			attrs[a.id] = [3]uint32(a.value[:3])
		}
		for i, align := range []uintptr{1, 8, 64, 4} {
			if uintptr(c.ptrs[i])%align != 0 {
				t.Errorf("parameter %d is at %v", i, c.ptrs[i])
			}
		}
		if *(*byte)(c.ptrs[0]) != 9 || *(*uint64)(c.ptrs[1]) != 0x1122334455667788 || *(*uint32)(c.ptrs[3]) != 42 {
			t.Error("parameters are not what was given")
		}
		if m := unsafe.Slice((*byte)(c.ptrs[2]), 128); !bytes.Equal(m, bytes.Repeat([]byte{7}, 128)) {
			t.Errorf("the map is %v", m)
		}
		return success
	}
	l := launchOf(42)
	l.Cluster, l.Cooperative, l.Dependent, l.Shared = device.D(2, 2), true, true, 100000
	if err := k.Launch(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	if cfg.grid != [3]uint32{4, 2, 1} || cfg.block != [3]uint32{128, 1, 1} || cfg.shared != 100000 {
		t.Errorf("%+v", cfg)
	}
	want := map[int32][3]uint32{attrClusterDim: {2, 2, 1}, attrCooperative: {1}, attrProgrammatic: {1}}
	for id, v := range want {
		if attrs[id] != v {
			t.Errorf("attribute %d is %v, want %v", id, attrs[id], v)
		}
	}
	if len(attrs) != len(want) {
		t.Errorf("attributes %v", attrs)
	}
	if f.attrs[funcMaxDynamicShared] != 100000 {
		t.Errorf("the limit of shared memory is %d", f.attrs[funcMaxDynamicShared])
	}
	l.Shared = 60000
	if err := k.Launch(t.Context(), l); err != nil || f.attrs[funcMaxDynamicShared] != 100000 {
		t.Errorf("%v: the limit was lowered to %d", err, f.attrs[funcMaxDynamicShared])
	}
	l.Shared = 300000
	if err := k.Launch(t.Context(), l); err == nil || !strings.Contains(err.Error(), "has 232448 a block") {
		t.Error(err)
	}
	l = launchOf(42)
	l.Grid, l.Cluster = device.D(16), device.D(16)
	if err := k.Launch(t.Context(), l); err != nil || f.attrs[funcNonPortableCluster] != 1 {
		t.Error("a cluster of 16:", err)
	}
	if unsafe.Sizeof(launchAttr{}) != 72 || unsafe.Sizeof(launchConfig{}) != 56 || unsafe.Offsetof(cfg.stream) != 32 {
		t.Error("the structures are not C's")
	}
}

// TestContext: a launch sets the context only where there is none, and always where
// there could be another.
func TestContext(t *testing.T) {
	f := newFake()
	d := openFake(t, f, Options{})
	k := scaleOf(t, d)
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	sets := func(what string, want int64) {
		t.Helper()
		before, launched := f.contexts.Load(), f.launched.Load()
		if err := s.Launch(k, launchOf(1)); err != nil {
			t.Fatal(err)
		}
		if got := f.contexts.Load() - before; got != want || f.launched.Load() != launched+1 {
			t.Errorf("%s: the context was set %d times and %d kernels launched", what, got, f.launched.Load()-launched)
		}
	}
	sets("a thread with the context", 0)
	f.noContext.Store(1)
	sets("a thread without", 1)
	f.several.Store(true)
	sets("several contexts", 1)
}

func TestFault(t *testing.T) {
	f := newFake()
	d := openFake(t, f, Options{})
	k := scaleOf(t, d)
	b, err := d.Alloc(16)
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := s.Launch(k, launchOf(1)); err != nil {
			t.Fatal(err)
		}
	}
	f.sticky.Store(700)
	err = s.Sync(t.Context())
	var le *LaunchError
	var ce *Error
	if !errors.As(err, &le) || le.Kernel != "scale" || le.Others != 2 || !errors.As(err, &ce) || ce.Name != "CUDA_ERROR_ILLEGAL_ADDRESS" || !errors.Is(err, device.ErrLost) {
		t.Fatalf("%v", err)
	}
	for _, part := range []string{"one of 3 launches", "scale", "grid (4, 2, 1)", "context is lost"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in %v", part, err)
		}
	}
	f.sticky.Store(0) // even if the driver were to forget it
	if err := b.Write(0, make([]byte, 4)); !errors.Is(err, device.ErrLost) {
		t.Errorf("after a fault: %v", err)
	}
	if err := k.Launch(t.Context(), launchOf(1)); !errors.Is(err, device.ErrLost) {
		t.Errorf("after a fault: %v", err)
	}
	if err := d.Close(); err != nil || f.retained.Load() != 0 {
		t.Errorf("closing: %v, the context is held %d times", err, f.retained.Load())
	}
}

// TestAccused: a fault that comes up elsewhere is laid to those who launched.
func TestAccused(t *testing.T) {
	for _, how := range []string{"read", "launch", "run", "replay"} {
		f := newFake()
		d := openFake(t, f, Options{})
		k := scaleOf(t, d)
		b, err := d.Alloc(16)
		if err != nil {
			t.Fatal(err)
		}
		s, other := mustStream(t, d), mustStream(t, d)
		g, err := d.NewGraph(func(s device.Stream) error { return s.Launch(k, launchOf(2)) })
		if err != nil {
			t.Fatal(err)
		}
		l := launchOf(1)
		l.Grid = device.D(77)
		if err := s.Launch(k, l); err != nil {
			t.Fatal(err)
		}
		f.sticky.Store(700)
		others := 0
		switch how {
		case "read":
			err = b.Read(0, make([]byte, 4))
		case "launch":
			err = other.Launch(k, launchOf(1))
		case "run":
			f.launchKernelEx = func(*launchCall) result { return success }
			f.eventRecord = func(uintptr, uintptr) result { return success }
			err = k.Launch(t.Context(), l)
			others = 1 // itself or the one in the stream
		case "replay":
			err = g.Replay(other)
		}
		var le *LaunchError
		if !errors.As(err, &le) || le.Launch.Grid != device.D(77) || le.Others != others || !errors.Is(err, device.ErrLost) {
			t.Errorf("%s: %v", how, err)
		}
		if n := strings.Count(err.Error(), "scale"); n != 1 {
			t.Errorf("%s: named %d times: %v", how, n, err)
		}
		if _, err := d.Alloc(4); !errors.Is(err, device.ErrLost) || !strings.Contains(err.Error(), "scale, grid (77, 1, 1)") {
			t.Errorf("%s: afterwards: %v", how, err)
		}
	}
}

func mustStream(t testing.TB, d *Device) device.Stream {
	t.Helper()
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestHang: a kernel that does not end ends the wait, and blocks nothing.
func TestHang(t *testing.T) {
	f := newFake()
	d := openFake(t, f, Options{})
	k := scaleOf(t, d)
	f.busy.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	err := k.Launch(ctx, launchOf(1))
	if !errors.Is(err, device.ErrRunning) || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "scale has not ended") {
		t.Fatal(err)
	}
	if _, err := d.Alloc(4); !errors.Is(err, device.ErrRunning) {
		t.Errorf("while it runs: %v", err)
	}
	if _, err := f.open(0, Options{}); !errors.Is(err, device.ErrRunning) {
		t.Errorf("while it runs: %v", err)
	}
	f.busy.Store(false)
	if _, err := d.Alloc(4); err != nil {
		t.Errorf("once it has ended: %v", err)
	}
	f.busy.Store(true)
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Launch(k, launchOf(1)); err != nil {
		t.Fatal(err)
	}
	if done, err := s.Done(); done || err != nil {
		t.Errorf("%v, %v", done, err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if err := s.Sync(ctx); !errors.Is(err, device.ErrRunning) || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := d.Close(); !errors.Is(err, device.ErrRunning) {
		t.Errorf("closing: %v", err)
	}
}

func TestNewerTarget(t *testing.T) {
	d := openFake(t, newFake(), Options{})
	text := strings.Replace(kernelText, "sm_90", "sm_100a", 1)
	_, err := d.Load("new.ptx", text)
	var ce *device.CompileError
	if !errors.As(err, &ce) || !strings.Contains(err.Error(), "new.ptx: .target sm_100a does not run on Fake GPU, which is sm_90a") {
		t.Error(err)
	}
}

func TestRefusedText(t *testing.T) {
	f := newFake()
	f.badText = "ptxas application ptx input, line 11; error   : Arguments mismatch for instruction 'add'\n" +
		"ptxas application ptx input, line 13; warning : Something odd\nptxas info    : 0 bytes gmem\n" +
		"ptxas fatal   : Ptx assembly aborted due to errors"
	d := openFake(t, f, Options{})
	for _, j := range []JIT{{}, {Relocatable: true}} {
		if j.Relocatable { // the linker refuses when it is given the text
			f.linkCreate = func(uint32, *int32, *uintptr, *uintptr) result { return success }
			f.linkAddData = func(uintptr, int32, unsafe.Pointer, uint64, string, uint32, *int32, *uintptr) result { return 218 }
			f.linkDestroy = func(uintptr) result { return success }
		}
		_, err := d.LoadWith("scale.ptx", kernelText, j)
		if j.Relocatable {
			if !strings.Contains(err.Error(), "CUDA_ERROR_INVALID_PTX") {
				t.Error(err)
			}
			continue
		}
		var ce *device.CompileError
		if !errors.As(err, &ce) {
			t.Fatal(err)
		}
		want := []device.Finding{
			{Pos: ptx.Pos{Line: 11}, Source: "scale.cu:12:3", Kind: "error", Message: "Arguments mismatch for instruction 'add'"},
			{Pos: ptx.Pos{Line: 13, Col: 2}, Source: "scale.cu:13:3", Kind: "warning", Message: "Something odd"},
		}
		if len(ce.Findings) != 2 || ce.Findings[0] != want[0] || ce.Findings[1] != want[1] {
			t.Errorf("%+v", ce.Findings)
		}
		for _, part := range []string{"CUDA_ERROR_INVALID_PTX", "\nscale.ptx:11: error: Arguments mismatch for instruction 'add' (scale.cu:12:3)"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q is not in %v", part, err)
			}
		}
	}
}

func TestFindingsWithoutPlace(t *testing.T) {
	m := &ptx.Module{}
	got := findings(m, "ptxas fatal   : Unresolved extern function 'f'\n")
	if len(got) != 1 || got[0] != (device.Finding{Kind: "error", Message: "Unresolved extern function 'f'"}) {
		t.Errorf("%+v", got)
	}
	got = findings(m, "error   : Undefined reference to 'f' in 'k'\nsomething else\n")
	if len(got) != 1 || got[0].Message != "Undefined reference to 'f' in 'k'" {
		t.Errorf("%+v", got)
	}
}

// TestManyGoroutines uses everything from many goroutines, for the race detector, and
// leaves nothing behind.
func TestManyGoroutines(t *testing.T) {
	f := newFake()
	d := openFake(t, f, Options{CacheDir: t.TempDir()})
	shared := scaleOf(t, d)
	stream, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	const workers, rounds = 16, 40
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range rounds {
				if err := exercise(d, stream, shared, uint32(w*rounds+i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := f.launched.Load(); got != workers*rounds*4 {
		t.Errorf("%d launches, want %d", got, workers*rounds*4)
	}
	if err := stream.Close(); err != nil {
		t.Error(err)
	}
	f.mu.Lock()
	clear(f.modules) // the shared one
	f.mu.Unlock()
	if live := f.live(); live != nothingLive {
		t.Error(live)
	}
	if n := len(f.events); n > workers+1 {
		t.Errorf("%d events for %d waits at once", n, workers)
	}
	if err := d.Close(); err != nil || f.retained.Load() != 0 {
		t.Error(err, f.retained.Load())
	}
}

// exercise makes one of everything, uses it and frees it.
func exercise(d *Device, common device.Stream, shared *kernel, i uint32) error {
	var errs []error
	check := func(err error) { errs = append(errs, err) }
	m, err := d.LoadWith("scale.ptx", kernelText, JIT{Relocatable: i%2 == 0})
	if err != nil {
		return err
	}
	k, err := m.Kernel("scale")
	check(err)
	s, err := d.NewStream()
	check(err)
	b, err := d.Alloc(4)
	check(err)
	h, err := d.AllocHost(4)
	check(err)
	start, err := d.NewEvent()
	check(err)
	end, err := d.NewEvent()
	check(err)
	if err := errors.Join(errs...); err != nil {
		return err
	}
	g, err := d.NewGraph(func(s device.Stream) error { return s.Launch(k, launchOf(i)) })
	check(err)
	l := launchOf(i)
	l.Shared = 50000 + int(i)
	binary.LittleEndian.PutUint32(h.Bytes(), i)
	for _, err := range []error{
		s.Record(start), s.Write(b, 0, h.Bytes()), s.Launch(k, l), g.Replay(s), common.Launch(shared, l), shared.Launch(context.Background(), l),
		s.Record(end), s.Wait(end), end.Sync(context.Background()), s.Sync(context.Background()),
	} {
		check(err)
	}
	got := make([]byte, 4)
	check(b.Read(0, got))
	if !bytes.Equal(got, h.Bytes()) {
		check(errors.New("read back something else"))
	}
	took, err := end.Since(start)
	check(err)
	if took != 250*time.Microsecond {
		check(errors.New("the time is " + took.String()))
	}
	for _, err := range []error{start.Close(), end.Close(), g.Close(), s.Close(), b.Free(), h.Free(), m.Close()} {
		check(err)
	}
	return errors.Join(errs...)
}

func TestCacheOfModules(t *testing.T) {
	f := newFake()
	dir := t.TempDir()
	d := openFake(t, f, Options{CacheDir: dir, JIT: JIT{Relocatable: true}})
	load := func(d *Device, j JIT, compiled int64) {
		t.Helper()
		before := f.compiled.Load()
		m, err := d.LoadWith("scale.ptx", kernelText, j)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		if got := f.compiled.Load() - before; got != compiled {
			t.Errorf("compiled %d times, want %d", got, compiled)
		}
	}
	forget := func() { d.cache.held, d.cache.order, d.cache.inside = map[string]cached{}, nil, 0 }
	j := JIT{Relocatable: true}
	load(d, j, 1)
	load(d, j, 0) // from the process
	forget()
	load(d, j, 0) // from disk
	load(d, JIT{Relocatable: true, MaxRegisters: 64}, 1)
	load(d, JIT{}, 1) // whole programs are the driver's to keep

	files, err := filepath.Glob(filepath.Join(dir, "cubin", "*.cubin"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)-1] ^= 1
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	forget()
	load(d, j, 1) // damaged: compiled again
	forget()
	load(d, j, 0)
	// Whole, but not code that the driver takes.
	d.cache.put(d.key(kernelText, JIT{Relocatable: true, LineInfo: true}), cached{cubin: []byte("CUBIN damaged\x00")})
	load(d, JIT{Relocatable: true, LineInfo: true}, 1)
	load(d, JIT{Relocatable: true, LineInfo: true}, 0)
	f.build = "libcuda.so.580.00.02"
	load(d, j, 1) // another driver
}

func TestJITOptions(t *testing.T) {
	j := JIT{Level: new(2), MaxRegisters: 96, LineInfo: true, Debug: true, Relocatable: true}
	if got := j.String(); got != "O2,maxregisters=96,lineinfo,debug,relocatable" {
		t.Error(got)
	}
	c := j.call()
	want := map[int32]uintptr{jitLevel: 2, jitMaxRegisters: 96, jitLineInfo: 1, jitDebug: 1, jitVerbose: 1}
	for i, o := range c.opts {
		if v, ok := want[o]; ok && c.vals[i] != v {
			t.Errorf("option %d is %d, want %d", o, c.vals[i], v)
		}
		delete(want, o)
	}
	if len(want) > 0 {
		t.Errorf("not given: %v", want)
	}
	f := newFake()
	for _, bad := range []JIT{{Level: new(5)}, {Level: new(-1)}, {MaxRegisters: 256}} {
		if _, err := f.open(0, Options{JIT: bad}); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
}

func TestOccupancy(t *testing.T) {
	k := scaleOf(t, openFake(t, newFake(), Options{}))
	l := device.Launch{Grid: device.D(8), Block: device.D(256)}
	o, err := k.Occupancy(l)
	if err != nil || o != (device.Occupancy{BlocksPerSM: 8, Warps: 64, Fraction: 1}) {
		t.Error(o, err)
	}
	l.Cluster = device.D(4)
	if o, err = k.Occupancy(l); err != nil || o.Clusters != 1 {
		t.Error(o, err)
	}
}

func TestGlobal(t *testing.T) {
	d := openFake(t, newFake(), Options{})
	m, err := d.Load("scale.ptx", kernelText)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := m.Global("there"); err != nil || b.Addr() != 64 || b.Size() != 4 {
		t.Error(b, err)
	}
	if _, err := m.Global("nowhere"); err == nil || !strings.Contains(err.Error(), "attest ptx stats") {
		t.Error(err)
	}
	if _, err := m.Kernel("nowhere"); err == nil || !strings.Contains(err.Error(), `no kernel "nowhere"`) {
		t.Error(err)
	}
}

// TestLaunchAllocates nothing.
func TestLaunchAllocates(t *testing.T) {
	d := openFake(t, newFake(), Options{})
	k := scaleOf(t, d)
	s, err := d.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	l := launchOf(1)
	if n := testing.AllocsPerRun(100, func() {
		if err := s.Launch(k, l); err != nil {
			t.Fatal(err)
		}
	}); n >= 1 {
		t.Errorf("a launch allocates %v times", n)
	}
}

func BenchmarkLaunch(b *testing.B) {
	d := openFake(b, newFake(), Options{})
	k := scaleOf(b, d)
	s, err := d.NewStream()
	if err != nil {
		b.Fatal(err)
	}
	l := launchOf(1)
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Launch(k, l); err != nil {
			b.Fatal(err)
		}
	}
}
