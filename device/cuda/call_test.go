package cuda

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/GOATnote-Inc/attest/device"
)

// stub compiles and loads testdata/stub.c as a library. seen returns the arguments of the
// last call.
func stub(t testing.TB) (l *library, seen func() [16]uint64) {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil || runtime.GOOS != "linux" {
		t.Skip("no C compiler to build the stub of libcuda")
	}
	so := filepath.Join(t.TempDir(), "libstub.so")
	if out, err := exec.Command(cc, "-O1", "-shared", "-fPIC", "-o", so, "testdata/stub.c").CombinedOutput(); err != nil {
		t.Skipf("%v\n%s", err, out)
	}
	h, err := purego.Dlopen(so, purego.RTLD_NOW)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { purego.Dlclose(h) })
	var get func(*uint64)
	purego.RegisterLibFunc(&get, h, "seen")
	l = newLibrary(func(name string) uintptr {
		addr, err := purego.Dlsym(h, name)
		if err != nil {
			return 0
		}
		return addr
	})
	return l, func() (s [16]uint64) { get(&s[0]); return s }
}

// TestCalls checks that the arguments arrive in C correctly.
func TestCalls(t *testing.T) {
	l, seen := stub(t)
	k := scaleOf(t, openFake(t, newFake(), Options{}))
	launch := launchOf(42)
	launch.Cluster, launch.Shared = device.D(2), 1000
	c := k.pack(3, &launch)
	defer c.free()
	want := [16]uint64{4, 2, 1, 128, 1, 1, 1000, 3, 1, 5, 9, 0x1122334455667788, 7, 42, 0, attrClusterDim}
	if r := l.launchKernelEx(c); r != success || seen() != want {
		t.Errorf("cuLaunchKernelEx: %d, %v, want %v", r, seen(), want)
	}
	want[8], want[15] = 0, 0
	if r := l.launchKernel(c); r != success || seen() != want {
		t.Errorf("cuLaunchKernel: %d, %v, want %v", r, seen(), want)
	}
	r := l.ctxSetCurrent(1 << 40)
	if s := seen(); r != invalidContext || s[0] != 1<<40 {
		t.Errorf("cuCtxSetCurrent: %d, %v", r, s)
	}
	if err := l.err("cuCtxSetCurrent", r).(*Error); err.Name != "CUDA_ERROR_INVALID_CONTEXT" {
		t.Error(err)
	}
	if r := l.eventRecord(8, 9); r != success || seen()[0] != 8 || seen()[1] != 9 {
		t.Errorf("cuEventRecord: %d, %v", r, seen())
	}
	var ms float32
	if r := l.eventElapsed(&ms, 1, 2); r != success || ms != 1.5 {
		t.Errorf("cuEventElapsedTime: %d, %v", r, ms)
	}
	var fn uintptr
	if r := l.moduleGetFunction(&fn, 7, "scale"); r != success || fn != 5 {
		t.Errorf("cuModuleGetFunction: %d, %v", r, fn)
	}
	r = l.memsetD8A(1<<40, 200, 1<<33, 6)
	if s := seen(); r != success || [4]uint64(s[:4]) != [4]uint64{1 << 40, 200, 1 << 33, 6} {
		t.Errorf("cuMemsetD8Async: %d, %v", r, s)
	}
	var m device.TensorMap
	dims, strides, box, steps := []uint64{64}, []uint64{256}, []uint32{32}, []uint32{1}
	r = l.encodeTiled(unsafe.Pointer(&m), 7, 1, 1<<41, &dims[0], &strides[0], &box[0], &steps[0], 0, 3, 0, 1)
	if s := seen(); r != success || [11]uint64(s[:11]) != [11]uint64{7, 1, 1 << 41, 64, 256, 32, 1, 0, 3, 0, 1} || m[127] != 0x5a {
		t.Errorf("cuTensorMapEncodeTiled: %d, %v", r, s)
	}
	lower, upper := []int32{-3}, []int32{5}
	r = l.encodeIm2col(unsafe.Pointer(&m), 7, 3, 1<<41, &dims[0], &strides[0], &lower[0], &upper[0], 16, 40, &steps[0], 0, 3, 0, 1)
	if s := seen(); r != success || [11]uint64(s[:11]) != [11]uint64{7, 3, 1 << 41, 64, 256, 1<<64 - 3, 5, 16, 40, 1, 301} || m[127] != 0x5b {
		t.Errorf("cuTensorMapEncodeIm2col: %d, %v", r, s)
	}
	if r := l.streamQuery(1); r != missing {
		t.Errorf("an entry that does not exist: %d", r)
	}
}

// BenchmarkCall measures the cost of a call from Go to C.
func BenchmarkCall(b *testing.B) {
	l, _ := stub(b)
	k := scaleOf(b, openFake(b, newFake(), Options{}))
	launch := launchOf(42)
	c := k.pack(3, &launch)
	defer c.free()
	b.Run("direct", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			l.launchKernelEx(c)
		}
	})
	b.Run("reflected", func(b *testing.B) {
		b.ReportAllocs()
		var fn uintptr
		for b.Loop() {
			l.moduleGetFunction(&fn, 7, "scale")
		}
	})
}
