package predict

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/internal/predict/machine"
	"github.com/GOATnote-Inc/attest/internal/predict/warptrace"
	"github.com/GOATnote-Inc/attest/internal/sorted"
)

// divide distributes the time over reasons, phases and lines. micros converts cycles of one
// sub-core to microseconds of the launch.
func (p *Profile) divide(l *warptrace.Launch, r *machine.Result, micros, launch float64) {
	all := map[string]float64{launching: launch}
	phases, lines := map[string]*part{}, map[place]*part{}
	name := phaseNames(l.Program)
	p.Spent = map[machine.Spender]float64{}
	for _, at := range spenders(r.Spent) {
		us, why := r.Spent[at]*micros, at.Why.String()
		all[why] += us
		p.Spent[at] = us
		if at.ID < 0 {
			continue
		}
		in := &l.Program[at.ID]
		add(phases, name(in.Source), us, why, in)
		add(lines, placeOf(in), us, why, in)
	}
	p.Reasons = inOrder(all)
	for name, x := range phases {
		p.Phases = append(p.Phases, Part{Name: name, Micros: x.micros, Reasons: x.list()})
	}
	for at, x := range lines {
		p.Lines = append(p.Lines, Part{Name: at.instruction, Line: x.first, Copies: len(x.copies), Source: at.source, Micros: x.micros, Reasons: x.list()})
	}
}

// spenders returns the keys in order, so that sums of floats are the same in every run.
func spenders(spent map[machine.Spender]float64) []machine.Spender {
	list := slices.Collect(maps.Keys(spent))
	sorted.By(list, func(a, b machine.Spender) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Why, b.Why))
	})
	return list
}

// part collects the time of a phase or a line.
type part struct {
	micros  float64
	reasons map[string]float64
	first   int
	copies  map[int]bool // PTX lines
}

func add[K comparable](to map[K]*part, k K, us float64, why string, in *observe.Inst) {
	x := to[k]
	line := int(in.Pos.Line)
	if x == nil {
		x = &part{reasons: map[string]float64{}, first: line, copies: map[int]bool{}}
		to[k] = x
	}
	x.micros += us
	x.reasons[why] += us
	x.first = min(x.first, line)
	x.copies[line] = true
}

// list returns the reasons of a part, the longest first.
func (x *part) list() (list []Spent) {
	for why, us := range x.reasons {
		list = append(list, Spent{why, us})
	}
	sorted.By(list, func(a, b Spent) int {
		return cmp.Or(cmp.Compare(b.Micros, a.Micros), strings.Compare(a.Reason, b.Reason))
	})
	return list
}

// place identifies an instruction of a source line, in all its unrolled copies. Without a source
// it identifies a PTX line.
type place struct {
	source, instruction string
	line                int
}

func placeOf(in *observe.Inst) place {
	if in.Source == "" {
		return place{"", in.Op.Text, int(in.Pos.Line)}
	}
	return place{in.Source, in.Op.Text, 0}
}

// phaseNames returns a function that names the phase of a source line: its file, or the line
// itself if all lines come from one file.
func phaseNames(program []observe.Inst) func(source string) string {
	files := map[string]bool{}
	for i := range program {
		file, _ := split(program[i].Source)
		files[file] = true
	}
	delete(files, "")
	return func(source string) string {
		file, line := split(source)
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
