package marks

import (
	"encoding/json"
	"fmt"
	"io"
)

// event is a trace event. Times are in microseconds.
type event struct {
	Name string            `json:"name"`
	Ph   string            `json:"ph"`
	Ts   float64           `json:"ts"`
	Dur  float64           `json:"dur,omitempty"`
	Pid  int               `json:"pid"`
	Tid  int               `json:"tid"`
	Args map[string]string `json:"args,omitempty"`
}

// WriteTrace writes what warps recorded as trace events for ui.perfetto.dev: a block is a process, a
// warp is a track, and the time before a mark is a slice with the mark's name. mhz is the clock of the
// SMs, which converts cycles to time. Blocks are placed by the time of the GPU, whose resolution is
// about a microsecond on some GPUs; the warps of a block have one clock.
func WriteTrace(w io.Writer, warps []Warp, mhz float64) error {
	if !(mhz > 0) {
		return fmt.Errorf("a clock of %v MHz: use the clock of the SMs, such as 1980", mhz)
	}
	var events []event
	for _, list := range byBlock(warps) {
		block := list[0].Block
		origin := list[0]
		for _, x := range list {
			if x.Clock < origin.Clock {
				origin = x
			}
		}
		start := float64(origin.Time-first(warps)) / 1000
		events = append(events, event{Name: "process_name", Ph: "M", Pid: block, Args: map[string]string{"name": fmt.Sprintf("block %d on SM %d, recorded", block, origin.SM)}})
		for _, x := range list {
			events = append(events, event{Name: "thread_name", Ph: "M", Pid: block, Tid: x.Warp, Args: map[string]string{"name": fmt.Sprintf("warp %d", x.Warp)}})
			at := x.Clock
			for _, m := range x.Marks {
				events = append(events, event{Name: m.Name, Ph: "X", Ts: start + float64(at-origin.Clock)/mhz, Dur: float64(m.Clock-at) / mhz, Pid: block, Tid: x.Warp})
				at = m.Clock
			}
		}
	}
	return json.NewEncoder(w).Encode(map[string]any{"displayTimeUnit": "ns", "traceEvents": events})
}

// byBlock returns the warps of each block. Warps that recorded nothing, also no start, are left out.
func byBlock(warps []Warp) (blocks [][]Warp) {
	for _, x := range warps {
		if !x.ran() {
			continue
		}
		if n := len(blocks); n == 0 || blocks[n-1][0].Block != x.Block {
			blocks = append(blocks, nil)
		}
		blocks[len(blocks)-1] = append(blocks[len(blocks)-1], x)
	}
	return blocks
}

// ran reports whether the warp recorded anything. On the emulator a warp may start at time 0.
func (x *Warp) ran() bool { return x.Clock != 0 || x.Time != 0 || len(x.Marks) > 0 }

// first returns the earliest start of a warp.
func first(warps []Warp) uint64 {
	t := ^uint64(0)
	for _, x := range warps {
		if x.ran() {
			t = min(t, x.Time)
		}
	}
	return t
}
