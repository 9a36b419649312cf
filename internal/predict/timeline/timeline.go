package timeline

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/internal/predict/machine"
	"github.com/GOATnote-Inc/attest/internal/predict/warptrace"
	"github.com/GOATnote-Inc/attest/internal/sorted"
)

// Timeline collects the events of a replay. It is a machine.Watcher.
type Timeline struct {
	Chip    string  // the chip and its clock, for the names of processes
	MHz     float64 // converts cycles to time
	Program []observe.Inst

	events  []event
	open    map[track]*slice
	phases  map[counter]int
	blocks  map[int]bool
	roles   map[track]*role
	works   int
	dropped int
}

type track struct{ block, warp int }

type counter struct {
	block, at int
	mbarrier  bool
}

// slice is a run of instructions of a warp that is not written yet.
type slice struct {
	name     string
	from, to float64
	line     int
}

// event is one trace event.
type event struct {
	Name  string         `json:"name"`
	Cat   string         `json:"cat,omitempty"`
	Ph    string         `json:"ph"`
	Ts    float64        `json:"ts"`
	Dur   float64        `json:"dur,omitempty"`
	Pid   int            `json:"pid"`
	Tid   int            `json:"tid"`
	ID    int            `json:"id,omitempty"`
	Color string         `json:"cname,omitempty"`
	Args  map[string]any `json:"args,omitempty"`

	why machine.Reason // of a wait
}

const (
	// mostEvents keeps the file small enough for a browser.
	mostEvents = 400_000
	// shortest is the shortest wait in cycles that gets a slice of its own.
	shortest = 12
)

// colours are colour names of the trace viewer by the reason of a wait.
var colours = map[machine.Reason]string{
	machine.Dependence: "grey", machine.Special: "yellow", machine.Products: "thread_state_running", machine.SharedWait: "olive",
	machine.MemoryWait: "terrible", machine.Barrier: "thread_state_iowait", machine.UnitBusy: "bad", machine.Fetch: "thread_state_unknown", machine.Start: "black",
}

func (t *Timeline) add(e event) {
	if len(t.events) >= mostEvents {
		t.dropped++
		return
	}
	e.Ts /= t.MHz
	e.Dur /= t.MHz
	t.events = append(t.events, e)
}

// file returns the name of the source file of an instruction, or its opcode.
func (t *Timeline) file(id int32) string {
	in := &t.Program[id]
	if in.Source == "" {
		return in.Op.Text
	}
	name, _, _ := strings.Cut(path.Base(in.Source), ":")
	return name
}

// Issue is called by the replay.
func (t *Timeline) Issue(_, block, warp int, id int32, since, at float64, why machine.Reason) {
	if t.open == nil {
		t.open, t.phases, t.blocks, t.roles = map[track]*slice{}, map[counter]int{}, map[int]bool{}, map[track]*role{}
	}
	t.blocks[block] = true
	k := track{block, warp}
	if t.roles[k] == nil {
		t.roles[k] = &role{}
	}
	t.roles[k].see(&t.Program[id])
	s, name := t.open[k], t.file(id)
	waited := at-since >= shortest
	if s != nil && (waited || s.name != name) {
		t.close(k, s)
		s = nil
	}
	if waited {
		t.add(event{Name: why.String(), Cat: "wait", Ph: "X", Ts: since, Dur: at - since, Pid: block, Tid: warp, Color: colours[why], why: why, Args: map[string]any{"ptx line": t.Program[id].Pos.Line, "instruction": t.Program[id].Op.Text}})
	}
	if s == nil {
		s = &slice{name: name, from: at, line: int(t.Program[id].Pos.Line)}
		t.open[k] = s
	}
	s.to = at + 1
}

// close writes the run of instructions of a warp.
func (t *Timeline) close(k track, s *slice) {
	t.add(event{Name: s.name, Cat: "run", Ph: "X", Ts: s.from, Dur: s.to - s.from, Pid: k.block, Tid: k.warp, Args: map[string]any{"ptx line": s.line}})
	delete(t.open, k)
}

// Phase is called by the replay.
func (t *Timeline) Phase(block int, p *warptrace.Phase, at float64) {
	c := counter{block, p.At, p.Mbarrier}
	if t.phases == nil {
		t.phases = map[counter]int{}
	}
	t.phases[c]++
	name := fmt.Sprintf("barrier %d", p.At)
	switch {
	case p.Cluster:
		name = "cluster barrier"
	case p.Mbarrier:
		name = fmt.Sprintf("mbarrier at %d", p.At)
	}
	t.add(event{Name: name, Cat: "barrier", Ph: "C", Ts: at, Pid: block, Args: map[string]any{"completed phases": t.phases[c]}})
}

// Block is called by the replay.
func (t *Timeline) Block(_, block int, from, to float64) {
	t.add(event{Name: "block", Cat: "block", Ph: "X", Ts: from, Dur: to - from, Pid: block, Tid: blockTrack})
}

// blockTrack is the track of a block as a whole. A block has at most 32 warps.
const blockTrack = 1000

// Work is called by the replay.
func (t *Timeline) Work(block, warp int, id int32, from, to float64) {
	t.works++
	name := t.Program[id].Op.Text
	args := map[string]any{"ptx line": t.Program[id].Pos.Line}
	t.add(event{Name: name, Cat: "in flight", Ph: "b", Ts: from, Pid: block, Tid: warp, ID: t.works, Args: args})
	t.add(event{Name: name, Cat: "in flight", Ph: "e", Ts: to, Pid: block, Tid: warp, ID: t.works})
}

// closeAll writes the runs of instructions that are still open.
func (t *Timeline) closeAll() {
	for _, k := range inOrder(t.open) {
		t.close(k, t.open[k])
	}
}

// inOrder returns the tracks of a map by block and warp.
func inOrder[V any](of map[track]V) []track {
	list := slices.Collect(maps.Keys(of))
	sorted.By(list, func(a, b track) int {
		return cmp.Or(cmp.Compare(a.block, b.block), cmp.Compare(a.warp, b.warp))
	})
	return list
}

// Write writes the events as JSON.
func (t *Timeline) Write(to io.Writer) error {
	t.closeAll()
	w := bufio.NewWriter(to)
	fmt.Fprintf(w, "{\"displayTimeUnit\": \"ns\", \"otherData\": {\"times\": \"PREDICTED\", \"chip\": %q, \"dropped events\": %d},\n\"traceEvents\": [\n", t.Chip, t.dropped)
	for _, block := range sorted.Keys(t.blocks) {
		name := event{Name: "process_name", Ph: "M", Pid: block, Args: map[string]any{"name": fmt.Sprintf("block %d, PREDICTED for %s", block, t.Chip)}}
		track := event{Name: "thread_name", Ph: "M", Pid: block, Tid: blockTrack, Args: map[string]any{"name": "block"}}
		if err := writeEvents(w, name, track); err != nil {
			return err
		}
	}
	for _, k := range inOrder(t.roles) {
		of := Track{Warp: k.warp, Role: t.roleOf(k)}
		if err := writeEvents(w, event{Name: "thread_name", Ph: "M", Pid: k.block, Tid: k.warp, Args: map[string]any{"name": of.Name()}}); err != nil {
			return err
		}
	}
	if err := writeEvents(w, t.events...); err != nil {
		return err
	}
	fmt.Fprintf(w, "{\"name\": \"end\", \"ph\": \"M\", \"pid\": 0, \"tid\": 0}\n]}\n")
	return w.Flush()
}

// writeEvents writes events with a comma behind each.
func writeEvents(w *bufio.Writer, events ...event) error {
	for i := range events {
		text, err := json.Marshal(&events[i])
		if err != nil {
			return err
		}
		w.Write(text)
		w.WriteString(",\n")
	}
	return nil
}
