package predict

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/device/emu/count"
	"github.com/GOATnote-Inc/attest/internal/chips"
)

// Work is a launch to predict: its counts, the number of its blocks, and the bytes of its
// operands.
type Work struct {
	Counts *count.Counts
	Blocks int
	Bytes  int64
}

// Profile is the prediction for one launch. Times are in microseconds.
type Profile struct {
	Chip   string  `json:"chip"`
	Blocks int     `json:"blocks"`
	Waves  int     `json:"blocks_of_busiest_sm"`
	Low    float64 `json:"low_us"`  // the time of the busiest unit
	High   float64 `json:"high_us"` // the sum of the phases
	Limit  Unit    `json:"limit"`   // the busiest unit
	Units  []Busy  `json:"units"`
	Phases []Part  `json:"phases"` // the longest first
	Lines  []Part  `json:"lines"`  // source lines, or PTX lines without a source; the longest first
}

// Busy is the time for which a unit is busy.
type Busy struct {
	Unit   Unit    `json:"unit"`
	Micros float64 `json:"us"`
}

// Part is the prediction for a phase or a line.
type Part struct {
	Name   string  `json:"name"`             // the file of the source, or an opcode
	Line   int     `json:"line,omitempty"`   // the first PTX line
	Copies int     `json:"copies,omitempty"` // the number of PTX lines from the source line
	Source string  `json:"source,omitempty"`
	Micros float64 `json:"us"`
	Share  float64 `json:"share"` // the share of High
	Limit  Unit    `json:"limit"` // its busiest unit
	Units  []Busy  `json:"units"`
}

// Of predicts how long work takes on a chip.
func Of(w Work, chip chips.Chip) *Profile {
	p := &Profile{Chip: chip.String(), Blocks: max(w.Blocks, 1)}
	p.Waves = (p.Blocks + chip.SMs - 1) / chip.SMs
	// Costs are the clocks that one SM would need for all blocks. micros converts them to
	// microseconds of the SM with the most blocks.
	micros := float64(p.Waves) / float64(p.Blocks) / float64(chip.MHz)
	var all cost
	phases := map[string]*cost{}
	lines := map[place]*lineCost{}
	name := phaseNames(w.Counts.Lines)
	for i := range w.Counts.Lines {
		l := &w.Counts.Lines[i]
		c := costOf(l, &chip)
		all.add(&c)
		phase := name(l)
		if phases[phase] == nil {
			phases[phase] = new(cost)
		}
		phases[phase].add(&c)
		at := placeOf(l)
		if lines[at] == nil {
			lines[at] = &lineCost{first: l.Line}
		}
		lines[at].add(&c)
		lines[at].copies++
	}
	for at, l := range lines {
		if part := newPart(at.instruction, &l.cost, micros); part.Micros > 0 {
			part.Line, part.Copies, part.Source = l.first, l.copies, at.source
			p.Lines = append(p.Lines, part)
		}
	}
	for phase, c := range phases {
		part := newPart(phase, c, micros)
		p.High += part.Micros
		p.Phases = append(p.Phases, part)
	}
	p.Units = busy(&all, micros)
	p.Units[DRAM].Micros = float64(w.Bytes) / chip.Get("dram_gbps") / 1e3
	for _, b := range p.Units {
		if b.Micros > p.Low {
			p.Limit, p.Low = b.Unit, b.Micros
		}
	}
	p.High = max(p.High, p.Low)
	p.finish()
	return p
}

// Sum returns the profile of launches that run one after the other. names are the names of
// the launches; phases carry them in front, so that equal files of two launches stay apart.
func Sum(launches []*Profile, names []string) *Profile {
	if len(launches) == 1 {
		return launches[0]
	}
	sum := &Profile{Chip: launches[0].Chip, Units: make([]Busy, units)}
	for i, p := range launches {
		sum.Blocks += p.Blocks
		sum.Waves += p.Waves
		sum.Low += p.Low
		sum.High += p.High
		for u, b := range p.Units {
			sum.Units[u].Unit = b.Unit
			sum.Units[u].Micros += b.Micros
		}
		for _, phase := range p.Phases {
			phase.Name = names[i] + " " + phase.Name
			sum.Phases = append(sum.Phases, phase)
		}
		sum.Lines = append(sum.Lines, p.Lines...)
	}
	for _, b := range sum.Units {
		if b.Micros > sum.Of(sum.Limit) {
			sum.Limit = b.Unit
		}
	}
	sum.finish()
	return sum
}

// place identifies an instruction of a source line, in all its unrolled copies. Without a source
// it identifies a PTX line.
type place struct {
	source, instruction string
	line                int
}

func placeOf(l *count.Line) place {
	if l.Source == "" {
		return place{"", l.Instruction, l.Line}
	}
	return place{l.Source, l.Instruction, 0}
}

type lineCost struct {
	cost
	first, copies int
}

// finish sorts the parts and adds their shares.
func (p *Profile) finish() {
	for _, parts := range [][]Part{p.Phases, p.Lines} {
		slices.SortStableFunc(parts, func(a, b Part) int {
			return cmp.Or(cmp.Compare(b.Micros, a.Micros), cmp.Compare(a.Line, b.Line), strings.Compare(a.Name, b.Name))
		})
		for i := range parts {
			parts[i].Share = parts[i].Micros / max(p.High, 1e-12)
		}
	}
}

func newPart(name string, c *cost, micros float64) Part {
	unit, clocks := c.most()
	return Part{Name: name, Micros: clocks * micros, Limit: unit, Units: busy(c, micros)}
}

func busy(c *cost, micros float64) []Busy {
	list := make([]Busy, units)
	for u, n := range c {
		list[u] = Busy{Unit(u), n * micros}
	}
	return list
}

// phaseNames returns a function that names the phase of a line: its source file, or its source
// line if all lines come from one file.
func phaseNames(lines []count.Line) func(*count.Line) string {
	files := map[string]bool{}
	for i := range lines {
		file, _ := split(lines[i].Source)
		files[file] = true
	}
	delete(files, "")
	return func(l *count.Line) string {
		file, line := split(l.Source)
		switch {
		case file == "":
			return "no source"
		case len(files) > 1:
			return path.Base(file)
		}
		return path.Base(file) + ":" + line
	}
}

// split returns the file and the line of "file.go:12:3".
func split(source string) (file, line string) {
	file = source
	for range 2 {
		at := strings.LastIndexByte(file, ':')
		if at < 0 {
			return file, ""
		}
		file, line = file[:at], file[at+1:]
	}
	return file, line
}

// Of returns the time for which a unit is busy, in microseconds.
func (p *Profile) Of(u Unit) float64 { return p.Units[u].Micros }
