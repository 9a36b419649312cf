package nvml

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

func put(s *byte, n uint32, text string) result {
	copy(unsafe.Slice(s, n), text+"\x00")
	return 0
}

// stub returns a library with two GPUs. The second GPU supports no reading.
func stub() *library {
	number := func(v uint32) func(handle, *uint32) result {
		return func(h handle, to *uint32) result {
			if h != 100 {
				return 3 // NVML_ERROR_NOT_SUPPORTED
			}
			*to = v
			return 0
		}
	}
	clock := func(sm, mem uint32) func(handle, int32, *uint32) result {
		return func(h handle, kind int32, to *uint32) result {
			return number([]uint32{0, sm, mem}[kind])(h, to)
		}
	}
	text := func(t string) func(handle, *byte, uint32) result {
		return func(h handle, s *byte, n uint32) result {
			if h != 100 {
				return 3
			}
			return put(s, n, t)
		}
	}
	unsupported := []byte("Not Supported\x00")
	return &library{
		init:        func() result { return 0 },
		errorString: func(result) *byte { return &unsupported[0] },
		driverVersion: func(s *byte, n uint32) result {
			return put(s, n, "580.1")
		},
		count:   func(n *uint32) result { *n = 2; return 0 },
		byIndex: func(i uint32, h *handle) result { *h = handle(100 + i); return 0 },
		byUUID: func(uuid string, h *handle) result {
			if uuid != "GPU-1" {
				return 6
			}
			*h = 100
			return 0
		},
		name: text("NVIDIA H200"), uuid: text("GPU-1"),
		capability: func(h handle, major, minor *int32) result {
			*major, *minor = 9, 0
			return result(h - 100)
		},
		memory: func(h handle, m *memoryInfo) result { m.total = 1 << 30; return result(h - 100) },
		clock:  clock(1980, 3201), maxClock: clock(1980, 3201),
		power: number(123456), powerLimit: number(700000), energy: func(h handle, to *uint64) result { *to = 5500; return result(h - 100) },
		temperature: func(h handle, _ int32, c *uint32) result { return number(41)(h, c) },
		throttleReasons: func(h handle, r *uint64) result {
			*r = 5
			return result(h - 100)
		},
		performance: func(h handle, p *int32) result { *p = 0; return result(h - 100) },
		processes: func(h handle, n *uint32, _ unsafe.Pointer) result {
			*n = 2
			return insufficientSize
		},
	}
}

func TestInfoAndState(t *testing.T) {
	gpus, err := stub().list()
	if err != nil || len(gpus) != 2 {
		t.Fatalf("%d GPUs, %v", len(gpus), err)
	}
	info := gpus[0].Info()
	want := Info{Name: "NVIDIA H200", UUID: "GPU-1", Driver: "580.1", Target: ptx.SM90a, Memory: 1 << 30, MaxSMClock: 1980, MaxMemoryClock: 3201, PowerLimit: 700}
	if info != want {
		t.Errorf("got  %+v\nwant %+v", info, want)
	}
	s, err := gpus[0].State()
	if err != nil {
		t.Fatal(err)
	}
	if s.Time.IsZero() {
		t.Error("the state has no time")
	}
	s.Time = device.State{}.Time
	wantState := device.State{SMClock: 1980, MemoryClock: 3201, Power: 123.456, Energy: 5.5, Temperature: 41, Performance: "P0",
		Throttle: device.ThrottleIdle | device.ThrottlePowerCap, Processes: 2}
	if s != wantState {
		t.Errorf("got  %+v\nwant %+v", s, wantState)
	}
}

// TestRefusals checks that a GPU without readings leaves zeros, and that a missing reading of
// the throttling is an error.
func TestRefusals(t *testing.T) {
	gpus, _ := stub().list()
	if info := gpus[1].Info(); info != (Info{Driver: "580.1"}) {
		t.Errorf("%+v", info)
	}
	s, err := gpus[1].State()
	var e *Error
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "Not Supported (1)") {
		t.Errorf("error is %v", err)
	}
	if s.SMClock != 0 || s.Power != 0 || s.Temperature != 0 || s.Energy != 0 {
		t.Errorf("%+v", s)
	}
}

// TestOldDriver uses a library with only the entries that List needs.
func TestOldDriver(t *testing.T) {
	full := stub()
	l := &library{init: full.init, count: full.count, byIndex: full.byIndex}
	if err := l.start(); err != nil {
		t.Fatal(err)
	}
	gpus, err := l.list()
	if err != nil {
		t.Fatal(err)
	}
	if info := gpus[0].Info(); info != (Info{}) {
		t.Errorf("%+v", info)
	}
	if _, err := gpus[0].State(); err == nil || !strings.Contains(err.Error(), "update the driver") {
		t.Errorf("error is %v", err)
	}
	if _, err := l.open("GPU-1"); !errors.Is(err, device.ErrNoDevice) {
		t.Errorf("error is %v", err)
	}
	if err := (&library{}).start(); !errors.Is(err, device.ErrNoDevice) {
		t.Errorf("a stub library: %v", err)
	}
}

func TestOpen(t *testing.T) {
	g, err := stub().open("GPU-1")
	if err != nil || g.handle != 100 {
		t.Errorf("%+v, %v", g, err)
	}
	if _, err := stub().open("GPU-2"); err == nil || !strings.Contains(err.Error(), "GPU-2") {
		t.Errorf("error is %v", err)
	}
}

// TestCard reads a real GPU, if there is one.
func TestCard(t *testing.T) {
	gpus, err := List()
	if errors.Is(err, device.ErrNoDevice) || err == nil && len(gpus) == 0 {
		t.Skip("no GPU: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range gpus {
		start := time.Now()
		s, err := g.State()
		t.Logf("GPU %d: %+v\n%+v, %v, read in %v", i, g.Info(), s, err, time.Since(start))
		if info := g.Info(); info.Name == "" || info.UUID == "" || info.Target.SM < 50 || info.Memory == 0 {
			t.Errorf("GPU %d has gaps", i)
		}
		if s.SMClock == 0 || s.Temperature == 0 {
			t.Errorf("GPU %d: no clock or temperature", i)
		}
		if same, err := Open(g.Info().UUID); err != nil || same.handle != g.handle {
			t.Errorf("by its UUID: %v", err)
		}
	}
}
