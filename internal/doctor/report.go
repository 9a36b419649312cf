package doctor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/GOATnote-Inc/attest/device"
)

// Report is the JSON of attest doctor.
type Report struct {
	Emulator []string `json:"emulator"` // the targets that run without a GPU
	GPUs     []GPU    `json:"gpus"`
	GPUNote  string   `json:"gpu_note"` // why there is none, or ""
	Tools    []Tool   `json:"tools"`
	Python   Python   `json:"python"`
	Lacks    []Lack   `json:"lacks"` // what is missing
}

// Lack is something that is missing, and what a user loses without it.
type Lack struct {
	What string `json:"what"`
	Cost string `json:"cost"`
}

// GPU is a GPU of the machine.
type GPU struct {
	Index      int           `json:"index"` // as in --device cuda:0
	Name       string        `json:"name"`
	Target     string        `json:"target"`
	SMs        int           `json:"sms"`
	Memory     int64         `json:"memory"` // bytes
	L2         int64         `json:"l2"`     // bytes
	UUID       string        `json:"uuid"`
	CUDA       string        `json:"cuda"`   // the version that the driver supports, "CUDA 13.0"
	Driver     string        `json:"driver"` // "580.159.03", or "" without NVML
	MaxSMClock int           `json:"max_sm_mhz"`
	PowerLimit float64       `json:"watts_limit"`
	State      *device.State `json:"state"`      // nil without NVML
	StateNote  string        `json:"state_note"` // why State is nil, or what it lacks
}

// Machine has the parts of the examination that differ between platforms.
type Machine struct {
	Emulator []string
	// GPUs lists the GPUs; nil on platforms without a CUDA driver.
	GPUs func() ([]GPU, error)
	// Say is told which tool has not answered yet.
	Say func(format string, args ...any)
}

// The longest times to wait for an answer. A driver may first have to wake up its GPU.
const (
	toolTime   = 2 * time.Second
	pythonTime = 2500 * time.Millisecond
	gpuTime    = 20 * time.Second
)

const (
	noGPU    = "kernels run on the emulator, and times are only predicted"
	noPython = "no comparison with PyTorch, Triton or JAX in the same run"
	noState  = "records do not show clocks and throttling of the GPU"
)

// Examine asks all tools at the same time and returns when all have answered.
func Examine(ctx context.Context, m Machine) (*Report, error) {
	r := &Report{Emulator: m.Emulator, GPUs: []GPU{}, Tools: make([]Tool, len(tools)), Lacks: []Lack{}}
	w := &waiting{say: m.Say, pending: map[string]bool{}}
	var all sync.WaitGroup
	ask := func(what string, f func()) {
		w.start(what)
		all.Go(func() { f(); w.end(what) })
	}
	for i := range tools {
		ask(tools[i].name, func() { r.Tools[i] = tools[i].probe(ctx) })
	}
	ask("python", func() { r.Python = probePython(ctx) })
	ask("the GPU driver", func() { r.GPUs, r.GPUNote = probeGPUs(ctx, m.GPUs) })
	all.Wait()
	r.findLacks()
	return r, ctx.Err()
}

// probeGPUs lists the GPUs. It does not wait forever for a driver that hangs.
func probeGPUs(ctx context.Context, list func() ([]GPU, error)) ([]GPU, string) {
	if list == nil {
		return []GPU{}, "this build cannot reach GPUs: it is for a platform without a CUDA driver"
	}
	type answer struct {
		gpus []GPU
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		gpus, err := list()
		done <- answer{gpus, err}
	}()
	ctx, cancel := context.WithTimeout(ctx, gpuTime)
	defer cancel()
	select {
	case a := <-done:
		switch {
		case errors.Is(a.err, device.ErrNoDevice):
			return []GPU{}, a.err.Error()
		case a.err != nil:
			return []GPU{}, fmt.Sprintf("the driver failed: %v", a.err)
		}
		return a.gpus, ""
	case <-ctx.Done():
		return []GPU{}, fmt.Sprintf("the driver did not answer within %v", gpuTime)
	}
}

func (r *Report) findLacks() {
	lack := func(what, cost string) { r.Lacks = append(r.Lacks, Lack{what, cost}) }
	if len(r.GPUs) == 0 {
		lack("GPU", noGPU)
	}
	for _, g := range r.GPUs {
		if g.State == nil {
			lack("NVML", noState)
			break
		}
	}
	for i, t := range r.Tools {
		if t.Path == "" {
			lack(t.Name, tools[i].cost)
		}
	}
	if r.Python.Path == "" {
		lack("python", noPython)
		return
	}
	for _, m := range r.Python.Modules {
		if m.Version == "" {
			lack(m.Name, "no comparison with "+m.library()+" in the same run")
		}
	}
}

// waiting keeps track of the tools that have not answered yet.
type waiting struct {
	say     func(format string, args ...any)
	mu      sync.Mutex
	pending map[string]bool
}

func (w *waiting) start(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending[what] = true
	if w.say != nil {
		w.say("asking %s", what)
	}
}

func (w *waiting) end(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.pending, what)
	for other := range w.pending {
		if w.say != nil {
			w.say("asking %s", other)
		}
		return
	}
}
