package cuda

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

func TestNewerTarget(t *testing.T) {
	d := openFake(t, newFake(), Options{})
	text := strings.Replace(kernelText, "sm_90", "sm_100a", 1)
	_, err := d.Load("new.ptx", text)
	var ce *device.CompileError
	if !errors.As(err, &ce) || !strings.Contains(err.Error(), "new.ptx: .target sm_100a does not run on Fake GPU: compile it for sm_90a") {
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
		if j.Relocatable { // the linker refuses the text when it is added
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
		var got []string
		for _, f := range ce.Findings {
			got = append(got, f.Format("scale.ptx"))
		}
		want := "scale.ptx:11: error: Arguments mismatch for instruction 'add' (scale.cu:12:3)\nscale.ptx:13:2: warning: Something odd (scale.cu:13:3)"
		if strings.Join(got, "\n") != want {
			t.Errorf("%q", got)
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
	if len(got) != 1 || got[0].Format("k.ptx") != "k.ptx: error: Unresolved extern function 'f'" {
		t.Errorf("%+v", got)
	}
	got = findings(m, "error   : Undefined reference to 'f' in 'k'\nsomething else\n")
	if len(got) != 1 || got[0].Message != "Undefined reference to 'f' in 'k'" {
		t.Errorf("%+v", got)
	}
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
	forget := func() { d.cache.held, d.cache.order, d.cache.heldBytes = map[string]cached{}, nil, 0 }
	j := JIT{Relocatable: true}
	load(d, j, 1)
	load(d, j, 0) // from the process
	forget()
	load(d, j, 0) // from disk
	load(d, JIT{Relocatable: true, MaxRegisters: 64}, 1)
	load(d, JIT{}, 1) // the driver caches whole programs itself

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
	// An undamaged file with code that the driver refuses.
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
		t.Errorf("missing options: %v", want)
	}
	f := newFake()
	for _, bad := range []JIT{{Level: new(5)}, {Level: new(-1)}, {MaxRegisters: 256}} {
		if _, err := f.open(0, Options{JIT: bad}); err == nil {
			t.Errorf("%v was accepted", bad)
		}
	}
}
