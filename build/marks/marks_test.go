package marks_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/marks"
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/ptx"
)

// kernel adds up rounds numbers and marks each round. The first warp marks a step of its own.
func kernel(limit, rounds int) (*build.Kernel, *marks.Marks) {
	k := build.New("marked", ptx.SM80)
	out := build.ParamGlobal[build.U32](k, "out")
	m := marks.New(k, limit)
	sum := build.NewVar(k.U32(0))
	k.If(k.TidX().Shr(5).SetpEq(0), func() { m.At("first warp") })
	k.Loop(k.U32(0), rounds, 1, func(i build.U32) {
		sum.Set(sum.Get().Add(i))
		m.At("round")
	})
	out.At(k.CtaidX().MadLo(k.NtidX(), k.TidX())).St(sum.Get())
	m.At("stored")
	return k, m
}

// run launches a kernel on the emulator and returns the results and the buffer of marks.
func run(t *testing.T, k *build.Kernel, m *marks.Marks, blocks, threads int) (out, buffer []byte) {
	t.Helper()
	dev, err := emu.New(ptx.SM80, emu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	return runOn(t, dev, k, m, blocks, threads)
}

// runOn is run on a device.
func runOn(t *testing.T, dev device.Device, k *build.Kernel, m *marks.Marks, blocks, threads int) (out, buffer []byte) {
	t.Helper()
	text, err := k.PTX()
	if err != nil {
		t.Fatal(err)
	}
	module, err := dev.Load("marked.ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	entry, err := module.Kernel("marked")
	if err != nil {
		t.Fatal(err)
	}
	out = make([]byte, 4*blocks*threads)
	results, err := dev.Alloc(int64(len(out)))
	if err != nil {
		t.Fatal(err)
	}
	defer results.Free()
	l := device.Launch{Grid: device.D(blocks), Block: device.D(threads), Params: []device.Param{device.Ptr(results)}}
	buffer = make([]byte, m.Bytes(blocks, threads))
	var memory device.Buffer
	if len(buffer) > 0 {
		if memory, err = dev.Alloc(int64(len(buffer))); err != nil {
			t.Fatal(err)
		}
		defer memory.Free()
		if err := memory.Write(0, buffer); err != nil {
			t.Fatal(err)
		}
		l.Params = append(l.Params, device.Ptr(memory))
	}
	if err := entry.Launch(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	if err := results.Read(0, out); err != nil {
		t.Fatal(err)
	}
	if memory != nil {
		if err := memory.Read(0, buffer); err != nil {
			t.Fatal(err)
		}
	}
	return out, buffer
}

// TestMarks records the marks of two blocks of two warps.
func TestMarks(t *testing.T) {
	const blocks, threads, rounds = 2, 50, 3
	k, m := kernel(8, rounds)
	_, buffer := run(t, k, m, blocks, threads)
	list, err := m.Read(buffer, blocks, threads)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 4 {
		t.Fatalf("%d warps, want 4", len(list))
	}
	for i, w := range list {
		var names []string
		last := w.Clock
		for _, x := range w.Marks {
			names = append(names, x.Name)
			if x.Clock <= last {
				t.Errorf("warp %d of block %d: %s at %d, after %d", w.Warp, w.Block, x.Name, x.Clock, last)
			}
			last = x.Clock
		}
		want := "round round round stored"
		if i%2 == 0 {
			want = "first warp " + want
		}
		if got := strings.Join(names, " "); got != want || w.Block != i/2 || w.Warp != i%2 || w.Clock == 0 {
			t.Errorf("warp %d of block %d since %d marks %q, want %q", w.Warp, w.Block, w.Clock, got, want)
		}
	}
}

// TestLimit checks that a warp stops recording at its limit, and that no other warp loses a mark.
func TestLimit(t *testing.T) {
	k, m := kernel(3, 10)
	_, buffer := run(t, k, m, 1, 64)
	list, err := m.Read(buffer, 1, 64)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range list {
		if len(w.Marks) != 3 {
			t.Errorf("warp %d has %d marks, want 3", w.Warp, len(w.Marks))
		}
	}
	if list[0].Marks[0].Name != "first warp" || list[1].Marks[0].Name != "round" {
		t.Errorf("the first marks are %v and %v", list[0].Marks[0], list[1].Marks[0])
	}
}

// TestOff checks that a kernel without marks is the kernel that never had any, and that marks do not
// change results.
func TestOff(t *testing.T) {
	k, m := kernel(0, 3)
	text, err := k.PTX()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text, "%clock") || strings.Contains(text, ".param .u64 marks") || m.Bytes(1, 64) != 0 {
		t.Errorf("a kernel without marks reads the clock:\n%s", text)
	}
	off, _ := run(t, k, m, 1, 64)
	k, m = kernel(8, 3)
	if on, _ := run(t, k, m, 1, 64); !bytes.Equal(on, off) {
		t.Error("marks change the results")
	}
}

// TestRead checks that a buffer of another launch is refused.
func TestRead(t *testing.T) {
	_, m := kernel(2, 1)
	if _, err := m.Read(make([]byte, 8), 1, 32); err == nil || !strings.Contains(err.Error(), "1 blocks of 32 threads write 40") {
		t.Errorf("a short buffer: %v", err)
	}
	buffer := make([]byte, m.Bytes(1, 32))
	buffer[len(buffer)-9] = 200 // the upper byte of the first mark
	if _, err := m.Read(buffer, 1, 32); err == nil || !strings.Contains(err.Error(), "zeros") {
		t.Errorf("a mark without a name: %v", err)
	}
}

// TestTrace checks the slices of a warp.
func TestTrace(t *testing.T) {
	warps := []marks.Warp{
		{Block: 0, Warp: 0, Time: 5000, Clock: 1000, Marks: []marks.Mark{{Name: "a", Clock: 1200}, {Name: "b", Clock: 1250}}},
		{Block: 0, Warp: 1, Time: 5000, Clock: 1100, Marks: []marks.Mark{{Name: "a", Clock: 1300}}},
		{Block: 1, Warp: 0},
		{Block: 2, Warp: 0, SM: 7, Time: 6000, Clock: 90, Marks: []marks.Mark{{Name: "a", Clock: 100}}},
	}
	var out bytes.Buffer
	if err := marks.WriteTrace(&out, warps, 100); err != nil {
		t.Fatal(err)
	}
	var file struct {
		TraceEvents []struct {
			Name, Ph string
			Ts, Dur  float64
			Pid, Tid int
		}
	}
	if err := json.Unmarshal(out.Bytes(), &file); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range file.TraceEvents {
		if e.Ph == "X" {
			text, err := json.Marshal([]any{e.Pid, e.Tid, e.Name, e.Ts, e.Dur})
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(text))
		}
	}
	want := `[0,0,"a",0,2] [0,0,"b",2,0.5] [0,1,"a",1,2] [2,0,"a",1,0.1]`
	if strings.Join(got, " ") != want {
		t.Errorf("slices %s, want %s", strings.Join(got, " "), want)
	}
	if err := marks.WriteTrace(&out, warps, 0); err == nil {
		t.Error("a clock of 0 MHz is accepted")
	}
}
