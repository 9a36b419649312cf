package predict

import (
	"cmp"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/predict/machine"
	"github.com/GOATnote-Inc/attest/internal/sorted"
)

// Profile is the prediction for one launch, or for several that run one after the other. Times are
// in microseconds.
type Profile struct {
	Chip   string  `json:"chip"`
	Blocks int     `json:"blocks"`
	Waves  int     `json:"blocks_of_busiest_sm"`
	Micros float64 `json:"us"`
	Low    float64 `json:"low_us"`  // the band: most kernels lie above this time
	High   float64 `json:"high_us"` // and below this one
	Floor  float64 `json:"floor_us"`
	Limit  Unit    `json:"limit"` // the busiest unit, which sets the floor
	Clock  int     `json:"mhz"`
	Units  []Busy  `json:"units"`
	// Reasons is where the time goes, in the order of machine.Reasons. The first is the launch.
	Reasons []Spent `json:"reasons"`
	Phases  []Part  `json:"phases"` // the longest first
	Lines   []Part  `json:"lines"`  // source lines, or PTX lines without a source; the longest first
	// Warps is the share of the time of all warps by reason, which profilers measure. The sum of several launches has none.
	Warps []Share `json:"warps"`
	// Notes are sentences about what the prediction leaves out.
	Notes []string `json:"notes,omitempty"`
	// Spent is the time by instruction and reason. The sum of several launches has none.
	Spent map[machine.Spender]float64 `json:"-"`
}

// Busy is the time for which a unit is busy.
type Busy struct {
	Unit   Unit    `json:"unit"`
	Micros float64 `json:"us"`
}

// Spent is time that was spent for a reason.
type Spent struct {
	Reason string  `json:"reason"`
	Micros float64 `json:"us"`
}

// Share is the share of the warps' time that they spend for a reason, from 0 to 1.
type Share struct {
	Reason string  `json:"reason"`
	Share  float64 `json:"share"`
}

// NotSelected is the reason of a warp that can issue while another one does.
const NotSelected = "not selected"

// warpShares returns where the time of the warps goes, in the order of machine.Reasons.
func warpShares(r *machine.Result) (list []Share) {
	total := r.NotSelected
	for _, cycles := range r.Warps {
		total += cycles
	}
	for _, why := range machine.Reasons() {
		list = append(list, Share{why.String(), r.Warps[why] / max(total, 1e-12)})
	}
	return append(list, Share{NotSelected, r.NotSelected / max(total, 1e-12)})
}

// Part is the prediction for a phase or a line.
type Part struct {
	Name    string  `json:"name"`             // the file of the source, or an opcode
	Line    int     `json:"line,omitempty"`   // the first PTX line
	Copies  int     `json:"copies,omitempty"` // the number of PTX lines from the source line
	Source  string  `json:"source,omitempty"`
	Micros  float64 `json:"us"`
	Share   float64 `json:"share"`   // the share of the kernel's time
	Reasons []Spent `json:"reasons"` // the longest first
}

// Main returns the reason on which most of the part's time was spent.
func (p *Part) Main() string {
	if len(p.Reasons) == 0 {
		return ""
	}
	return p.Reasons[0].Reason
}

// launching is the reason of the time that a launch takes outside its blocks.
const launching = "launch"

// Of returns the time for which a unit is busy, in microseconds.
func (p *Profile) Of(u Unit) float64 { return p.Units[u].Micros }

// Sum returns the profile of launches that run one after the other. names are the names of the
// launches; phases carry them in front, so that equal files of two launches stay apart.
func Sum(launches []*Profile, names []string) *Profile {
	if len(launches) == 1 {
		return launches[0]
	}
	sum := &Profile{Chip: launches[0].Chip, Clock: launches[0].Clock, Units: make([]Busy, units)}
	reasons := map[string]float64{}
	for i, p := range launches {
		sum.Blocks += p.Blocks
		sum.Waves += p.Waves
		sum.Micros += p.Micros
		sum.Low += p.Low
		sum.High += p.High
		sum.Floor += p.Floor
		for u, b := range p.Units {
			sum.Units[u].Unit = b.Unit
			sum.Units[u].Micros += b.Micros
		}
		for _, r := range p.Reasons {
			reasons[r.Reason] += r.Micros
		}
		for _, phase := range p.Phases {
			phase.Name = names[i] + " " + phase.Name
			sum.Phases = append(sum.Phases, phase)
		}
		sum.Lines = append(sum.Lines, p.Lines...)
		for _, note := range p.Notes {
			sum.Notes = append(sum.Notes, names[i]+": "+note)
		}
	}
	for _, b := range sum.Units {
		if b.Micros > sum.Of(sum.Limit) {
			sum.Limit = b.Unit
		}
	}
	sum.Reasons = inOrder(reasons)
	sum.finish()
	return sum
}

// inOrder returns times by reason, the launch first.
func inOrder(reasons map[string]float64) (list []Spent) {
	list = append(list, Spent{launching, reasons[launching]})
	for _, r := range machine.Reasons() {
		list = append(list, Spent{r.String(), reasons[r.String()]})
	}
	return list
}

// finish sorts the parts and adds their shares.
func (p *Profile) finish() {
	for _, parts := range [][]Part{p.Phases, p.Lines} {
		sorted.By(parts, func(a, b Part) int {
			return cmp.Or(cmp.Compare(b.Micros, a.Micros), cmp.Compare(a.Line, b.Line), strings.Compare(a.Name, b.Name))
		})
		for i := range parts {
			parts[i].Share = parts[i].Micros / max(p.Micros, 1e-12)
		}
	}
}
