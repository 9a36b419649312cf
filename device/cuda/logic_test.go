package cuda

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
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

// TestNoDevice checks that a missing GPU and a broken driver give different errors.
func TestNoDevice(t *testing.T) {
	for name, change := range map[string]func(*fake){
		"no GPU at init": func(f *fake) { f.init = func(uint32) result { return noDevice } },
		"stub library":   func(f *fake) { f.init = func(uint32) result { return stubLibrary } },
		"not a driver":   func(f *fake) { bindMissing(&f.init) },
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
	if _, err := f.open(3, Options{}); !errors.Is(err, device.ErrNoDevice) || !strings.Contains(err.Error(), "no GPU 3: the last GPU is 0") {
		t.Error(err)
	}
	f.init = func(uint32) result { return 803 }
	if err := f.start(); err == nil || errors.Is(err, device.ErrNoDevice) {
		t.Errorf("a broken driver: %v", err)
	}
}

// TestMissingEntries checks that a call fails with the name of an entry that an old driver
// lacks, and that all other calls work.
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
		t.Errorf("the UUID is %s, want none", d.Info().UUID)
	}
	if _, err := d.Alloc(1 << 50); err == nil || !strings.Contains(err.Error(), "unknown result (2)") {
		t.Errorf("an error without a name: %v", err)
	}
	k := scaleOf(t, d) // all other calls work
	if err := k.Launch(t.Context(), launchOf(1)); err != nil {
		t.Error(err)
	}
}

// TestOldLaunch checks drivers before CUDA 11.8: a plain launch uses a different entry, and a
// launch with attributes fails.
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

// TestPacking checks that the driver gets pointers to all parameters, correctly aligned, and
// the attributes of the launch.
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
			t.Error("the parameters have changed")
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
	if err := k.Launch(t.Context(), l); err == nil || !strings.Contains(err.Error(), "has 232448 per block") {
		t.Error(err)
	}
	l = launchOf(42)
	l.Grid, l.Cluster = device.D(16), device.D(16)
	if err := k.Launch(t.Context(), l); err != nil || f.attrs[funcNonPortableCluster] != 1 {
		t.Error("a cluster of 16:", err)
	}
	if unsafe.Sizeof(launchAttr{}) != 72 || unsafe.Sizeof(launchConfig{}) != 56 || unsafe.Offsetof(cfg.stream) != 32 {
		t.Error("the structures differ from those of C")
	}
}

// TestContext checks that a launch sets the context only if the thread has none, but always
// if the process has used several GPUs.
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
	f.manyContexts.Store(true)
	sets("several contexts", 1)
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
	if _, err := m.Kernel("nowhere"); err == nil || !strings.Contains(err.Error(), `no entry "nowhere": it has scale`) {
		t.Error(err)
	}
}

// TestLaunchAllocates checks that a launch does not allocate, because an allocation would
// disturb the times of short kernels.
func TestLaunchAllocates(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector makes sync.Pool drop objects")
	}
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
