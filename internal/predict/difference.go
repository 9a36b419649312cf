package predict

import (
	"cmp"
	"math"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/sorted"
)

// Difference says where the predicted difference between two kernels arises. Times are in
// microseconds, and a positive difference means that B takes longer.
type Difference struct {
	Micros  float64 `json:"us"`
	Reasons []Delta `json:"reasons"` // what the SMs do or wait for, the largest difference first
	Phases  []Delta `json:"phases"`  // the largest difference first; a phase may be of one kernel only
}

// Delta is a part of the time in both kernels.
type Delta struct {
	Name       string  `json:"name"`
	A          float64 `json:"a"`
	B          float64 `json:"b"`
	Difference float64 `json:"difference"`
	// Mostly is the reason that contributes most to the difference of a phase.
	Mostly string `json:"mostly,omitempty"`
}

// Compare returns where the difference in time between two kernels arises.
func Compare(a, b *Profile) *Difference {
	d := &Difference{Micros: b.Micros - a.Micros}
	d.Reasons = deltas([2][]Spent{a.Reasons, b.Reasons})
	names := map[string]*[2][]Spent{}
	var order []string
	for side, p := range []*Profile{a, b} {
		for _, phase := range p.Phases {
			if names[phase.Name] == nil {
				names[phase.Name] = &[2][]Spent{}
				order = append(order, phase.Name)
			}
			names[phase.Name][side] = phase.Reasons
		}
	}
	for _, name := range order {
		by := deltas(*names[name])
		one := Delta{Name: name}
		for _, r := range by {
			one.A += r.A
			one.B += r.B
		}
		one.Difference = one.B - one.A
		for _, r := range by {
			if (r.Difference > 0) == (one.Difference > 0) { // a reason that goes the other way explains nothing
				one.Mostly = r.Name
				break
			}
		}
		d.Phases = append(d.Phases, one)
	}
	byDifference(d.Phases)
	return d
}

// deltas joins the times of two kernels by reason.
func deltas(both [2][]Spent) (list []Delta) {
	at := map[string]int{}
	for side, spent := range both {
		for _, s := range spent {
			i, ok := at[s.Reason]
			if !ok {
				i = len(list)
				at[s.Reason] = i
				list = append(list, Delta{Name: s.Reason})
			}
			if side == 0 {
				list[i].A += s.Micros
			} else {
				list[i].B += s.Micros
			}
		}
	}
	for i := range list {
		list[i].Difference = list[i].B - list[i].A
	}
	byDifference(list)
	return list
}

func byDifference(list []Delta) {
	sorted.By(list, func(a, b Delta) int {
		return cmp.Or(cmp.Compare(math.Abs(b.Difference), math.Abs(a.Difference)), strings.Compare(a.Name, b.Name))
	})
}
