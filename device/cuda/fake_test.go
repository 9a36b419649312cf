package cuda

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"
)

// fake replaces libcuda in tests, so that they run without a driver. It has one GPU of sm_90.
// Its kernels only call the function on. Its memory is memory of the host.
type fake struct {
	*library
	mu      sync.Mutex
	memory  map[uint64][]byte // by address
	hosts   map[unsafe.Pointer][]byte
	modules map[uintptr]bool
	streams map[uintptr]bool
	events  map[uintptr]bool
	links   map[uintptr]bool
	graphs  map[uintptr]bool
	execs   map[uintptr]bool
	next    atomic.Uint64

	contexts  atomic.Int64 // how often the context was made current
	launched  atomic.Int64
	compiled  atomic.Int64 // how many texts were compiled
	retained  atomic.Int64
	attrs     map[int32]int32 // the attributes that were set on functions
	sticky    atomic.Int32    // the result of all calls after a fault
	noContext atomic.Int32    // how many launches find no context
	busy      atomic.Bool     // events do not pass
	badText   string          // if not empty, texts are refused with this log
	onLaunch  func(c *launchCall) result
}

// newFake returns a driver of CUDA 13.0 that lacks the named entries.
func newFake(without ...string) *fake {
	f := &fake{
		library: newLibrary(func(string) uintptr { return 0 }),
		memory:  map[uint64][]byte{}, hosts: map[unsafe.Pointer][]byte{}, modules: map[uintptr]bool{}, streams: map[uintptr]bool{},
		events: map[uintptr]bool{}, links: map[uintptr]bool{}, graphs: map[uintptr]bool{}, execs: map[uintptr]bool{},
		attrs: map[int32]int32{},
	}
	f.next.Store(0x1000)
	f.build = "libcuda.so.580.00.01"
	f.basics()
	f.memories()
	f.programs()
	f.linker()
	f.functions()
	f.queues()
	for _, e := range f.entries() {
		for _, w := range without {
			if strings.HasPrefix(e.name, w) {
				bindMissing(e.fn)
			}
		}
	}
	return f
}

// openFake opens the GPU of f.
func openFake(t testing.TB, f *fake, o Options) *Device {
	t.Helper()
	if err := f.start(); err != nil {
		t.Fatal(err)
	}
	if o.CacheDir == "" {
		o.NoCache = true
	}
	d, err := f.open(0, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// do returns r, or the result of an earlier fault.
func (f *fake) do(r result) result {
	if s := result(f.sticky.Load()); s != success {
		return s
	}
	return r
}

func (f *fake) handle() uintptr { return uintptr(f.next.Add(1)) }

// add creates a handle in a set, and remove removes it.
func (f *fake) add(set map[uintptr]bool, h *uintptr) result {
	f.mu.Lock()
	defer f.mu.Unlock()
	*h = f.handle()
	set[*h] = true
	return f.do(success)
}

func (f *fake) remove(set map[uintptr]bool, h uintptr) result {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !set[h] {
		return invalidHandle
	}
	delete(set, h)
	return f.do(success)
}

// live describes the objects that were created and not freed.
func (f *fake) live() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return fmt.Sprintf("%d buffers, %d host buffers, %d modules, %d streams, %d links, %d graphs, %d instances",
		len(f.memory), len(f.hosts), len(f.modules), len(f.streams), len(f.links), len(f.graphs), len(f.execs))
}

const nothingLive = "0 buffers, 0 host buffers, 0 modules, 0 streams, 0 links, 0 graphs, 0 instances"

// word returns s as a C string.
func word(s string) *byte { return &append([]byte(s), 0)[0] }

func (f *fake) basics() {
	f.init = func(uint32) result { return success }
	f.driverGetVersion = func(v *int32) result { *v = 13000; return success }
	f.getErrorName = func(r result, s **byte) result {
		*s = word(map[result]string{700: "CUDA_ERROR_ILLEGAL_ADDRESS", 2: "CUDA_ERROR_OUT_OF_MEMORY", 218: "CUDA_ERROR_INVALID_PTX"}[r])
		return success
	}
	f.getErrorString = func(_ result, s **byte) result { *s = word("some words"); return success }
	f.deviceGetCount = func(n *int32) result { *n = 1; return success }
	f.deviceGet = func(dev *int32, i int32) result { *dev = i; return success }
	f.deviceGetName = func(name *byte, n int32, _ int32) result {
		copy(unsafe.Slice(name, n), "Fake GPU\x00")
		return success
	}
	f.deviceGetAttr = func(v *int32, a int32, _ int32) result {
		*v = map[int32]int32{
			attrMaxThreads: 1024, attrSharedDefault: 49152, attrClock: 1980000, attrSMs: 132, attrMemoryClock: 3201000, attrMemoryBus: 6144,
			attrL2: 60 << 20, attrThreadsPerSM: 2048, attrMajor: 9, attrMinor: 0, attrSharedPerSM: 233472, attrRegistersPerSM: 65536, attrSharedMax: 232448,
		}[a]
		return success
	}
	f.deviceTotalMem = func(n *uint64, _ int32) result { *n = 141 << 30; return success }
	f.deviceGetUUID = func(id *[16]byte, _ int32) result { *id = [16]byte{0xab, 15: 1}; return success }
	f.deviceGetBus = func(id *byte, n int32, _ int32) result {
		copy(unsafe.Slice(id, n), "0000:3B:00.0\x00")
		return success
	}
	f.ctxRetain = func(c *uintptr, _ int32) result { f.retained.Add(1); *c = 77; return success }
	f.ctxRelease = func(int32) result { f.retained.Add(-1); return f.do(success) }
	f.ctxSetCurrent = func(uintptr) result { f.contexts.Add(1); return success }
}

func (f *fake) memories() {
	f.memAlloc = func(p *uint64, n uint64) result {
		if n > 141<<30 {
			return 2
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		b := make([]byte, n)
		*p = uint64(uintptr(unsafe.Pointer(&b[0])))
		f.memory[*p] = b
		return f.do(success)
	}
	f.memFree = func(p uint64) result {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.memory[p] == nil {
			return 1
		}
		delete(f.memory, p)
		return f.do(success)
	}
	f.memGetInfo = func(free, total *uint64) result { *free, *total = 1<<30, 2<<30; return f.do(success) }
	f.memcpyHtoD = func(dst uint64, src unsafe.Pointer, n uint64) result {
		copy(f.at(dst), unsafe.Slice((*byte)(src), n))
		return f.do(success)
	}
	f.memcpyDtoH = func(dst unsafe.Pointer, src uint64, n uint64) result {
		copy(unsafe.Slice((*byte)(dst), n), f.at(src))
		return f.do(success)
	}
	f.memcpyHtoDA = func(dst uint64, src unsafe.Pointer, n uint64, _ uintptr) result { return f.memcpyHtoD(dst, src, n) }
	f.memcpyDtoHA = func(dst unsafe.Pointer, src uint64, n uint64, _ uintptr) result { return f.memcpyDtoH(dst, src, n) }
	f.memcpyDtoDA = func(dst, src, n uint64, _ uintptr) result { copy(f.at(dst), f.at(src)[:n]); return f.do(success) }
	f.memsetD8A = func(dst uint64, v byte, n uint64, _ uintptr) result {
		for i := range n {
			f.at(dst)[i] = v
		}
		return f.do(success)
	}
	f.hostAlloc = func(p *unsafe.Pointer, n uint64, _ uint32) result {
		f.mu.Lock()
		defer f.mu.Unlock()
		b := make([]byte, n)
		*p = unsafe.Pointer(&b[0])
		f.hosts[*p] = b
		return f.do(success)
	}
	f.hostFree = func(p unsafe.Pointer) result {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.hosts, p)
		return f.do(success)
	}
}

// at returns the memory from an address on.
func (f *fake) at(p uint64) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	for start, b := range f.memory {
		if p >= start && p < start+uint64(len(b)) {
			return b[p-start:]
		}
	}
	panic(fmt.Sprintf("no memory at %#x", p))
}

// compile counts a compilation. It fails with the log badText if that is set.
func (f *fake) compile(opts *int32, vals *uintptr, n uint32) result {
	f.compiled.Add(1)
	if f.badText == "" {
		return success
	}
	for i, o := range unsafe.Slice(opts, n) {
		if o == jitErrorLog {
			p := *(*unsafe.Pointer)(unsafe.Pointer(&unsafe.Slice(vals, n)[i]))
			copy(unsafe.Slice((*byte)(p), logSize), f.badText)
		}
	}
	return 218
}

func (f *fake) programs() {
	f.moduleLoadDataEx = func(m *uintptr, img unsafe.Pointer, n uint32, opts *int32, vals *uintptr) result {
		switch text := cString((*byte)(img)); {
		case strings.HasPrefix(text, "CUBIN damaged"):
			return 200
		case !strings.HasPrefix(text, "CUBIN"):
			if r := f.compile(opts, vals, n); r != success {
				return r
			}
		}
		return f.add(f.modules, m)
	}
	f.moduleUnload = func(m uintptr) result { return f.remove(f.modules, m) }
	f.moduleGetFunction = func(fn *uintptr, _ uintptr, _ string) result { *fn = 5; return f.do(success) }
	f.moduleGetGlobal = func(p, n *uint64, _ uintptr, name string) result {
		if name != "there" {
			return 500
		}
		*p, *n = 64, 4
		return f.do(success)
	}
}

func (f *fake) linker() {
	var cubin = append([]byte("CUBIN good"), 0)
	f.linkCreate = func(n uint32, opts *int32, vals *uintptr, l *uintptr) result {
		if r := f.compile(opts, vals, n); r != success {
			return r
		}
		return f.add(f.links, l)
	}
	f.linkAddData = func(uintptr, int32, unsafe.Pointer, uint64, string, uint32, *int32, *uintptr) result {
		return f.do(success)
	}
	f.linkComplete = func(_ uintptr, p *unsafe.Pointer, n *uint64) result {
		*p, *n = unsafe.Pointer(&cubin[0]), uint64(len(cubin))
		return f.do(success)
	}
	f.linkDestroy = func(l uintptr) result { return f.remove(f.links, l) }
}

func (f *fake) functions() {
	f.funcGetAttribute = func(v *int32, a int32, _ uintptr) result {
		*v = map[int32]int32{funcRegisters: 32, funcShared: 1024, funcMaxThreads: 1024}[a]
		return success
	}
	f.funcSetAttribute = func(_ uintptr, a, v int32) result {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.attrs[a] = v
		return f.do(success)
	}
	f.launchKernelEx = func(c *launchCall) result {
		for n := f.noContext.Load(); n > 0; n = f.noContext.Load() {
			if f.noContext.CompareAndSwap(n, n-1) {
				return invalidContext
			}
		}
		f.launched.Add(1)
		if f.onLaunch != nil {
			if r := f.onLaunch(c); r != success {
				return r
			}
		}
		return f.do(success)
	}
	f.launchKernel = f.launchKernelEx
	f.maxActiveBlocks = func(n *int32, _ uintptr, threads int32, _ uint64) result { *n = 2048 / threads; return success }
	f.maxActiveCluster = func(n *int32, _ uintptr, c *launchConfig) result { *n = int32(c.numAttrs); return success }
}

func (f *fake) queues() {
	f.streamCreate = func(s *uintptr, _ uint32) result { return f.add(f.streams, s) }
	f.streamDestroy = func(s uintptr) result { return f.remove(f.streams, s) }
	f.streamQuery = func(uintptr) result { return f.eventQuery(0) }
	f.streamWaitEvent = func(uintptr, uintptr, uint32) result { return f.do(success) }
	f.streamBeginCapture = func(uintptr, int32) result { return f.do(success) }
	f.streamEndCapture = func(_ uintptr, g *uintptr) result { return f.add(f.graphs, g) }
	f.eventCreate = func(e *uintptr, _ uint32) result { return f.add(f.events, e) }
	f.eventDestroy = func(e uintptr) result { return f.remove(f.events, e) }
	f.eventRecord = func(uintptr, uintptr) result { return f.do(success) }
	f.eventQuery = func(uintptr) result {
		runtime.Gosched()
		if f.busy.Load() {
			return notReady
		}
		return f.do(success)
	}
	f.eventSync = func(uintptr) result { return f.do(success) }
	f.eventElapsed = func(ms *float32, _, _ uintptr) result { *ms = 0.25; return f.do(success) }
	f.graphInstantiate = func(e *uintptr, _ uintptr, _ uint64) result { return f.add(f.execs, e) }
	f.graphLaunch = func(uintptr, uintptr) result { return f.do(success) }
	f.graphExecDestroy = func(e uintptr) result { return f.remove(f.execs, e) }
	f.graphDestroy = func(g uintptr) result { return f.remove(f.graphs, g) }
}
