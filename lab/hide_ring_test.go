package lab

import (
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels/attn/hopper"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// onlyDefects returns the quick plan with nothing but the checkers.
func onlyDefects() Plan {
	p := quickly()
	p.Depth, p.Targets, p.Cases, p.Counters = RingsAndEdge, nil, nil, problem.Shape{}
	return p
}

// slotEmptyWaits returns the lines that wait until a slot of a ring is empty, if the slot is
// used more than once. The next line jumps back to the wait. The warp that copies waits for
// slots of Q, K and raw V; the warps that transpose V wait for a tile of raw V, and then for a
// slot of V. Without persistent blocks, Q and the first tiles of a split K are copied once.
func slotEmptyWaits(lines []string, persistent bool) (at []int) {
	var all []int
	copies := 0
	for i, line := range lines {
		if strings.Contains(line, "mbarrier.try_wait.parity") {
			all = append(all, i)
			if slices.ContainsFunc(lines[i:i+20], func(l string) bool { return strings.Contains(l, "cp.async.bulk.tensor") }) {
				copies = len(all)
			}
		}
	}
	at = []int{all[copies-2], all[copies-1], all[copies+1]}
	if persistent {
		at = append(at, all[0])
	}
	return at
}

// TestChecklist25SlotEmptyWait removes the waits until a slot is empty, one after the other,
// from every design for Hopper. The quick plan finds each.
func TestChecklist25SlotEmptyWait(t *testing.T) {
	designs := hopper.Designs()[1:] // the first design is a choice among the others
	if !*full {
		designs = designs[:1]
	}
	for _, design := range designs {
		t.Run(design.Name, func(t *testing.T) {
			s, err := Preset(design.Name, problem.Attention{}, kernel.Chip{})
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(s.PTX, "\n")
			for _, at := range slotEmptyWaits(lines, strings.Contains(s.Config["config"], "persistent")) {
				if !strings.Contains(lines[at+1], " bra ") {
					t.Fatalf("%q does not jump back to the wait", lines[at+1])
				}
				k := copyOf(s.Kernel)
				k.PTX = strings.Join(slices.Delete(slices.Clone(lines), at, at+2), "\n")
				broken, err := NewSubject(k)
				if err != nil {
					t.Fatal(err)
				}
				r, v := measure(t, broken, onlyDefects())
				if v.Gates[1].Status != record.Red || len(r.Defects.Found) == 0 {
					t.Errorf("without the wait in line %d the defects gate is %s", at+1, v.Gates[1].Status)
				}
			}
		})
	}
}

// TestChecklist25WrongStructure removes a wait from a design whose contract states smaller tiles and fewer stages
// than it has. The checkers run the lengths of an unknown structure too.
func TestChecklist25WrongStructure(t *testing.T) {
	s, err := Preset("hopper-split-kv-cluster", problem.Attention{}, kernel.Chip{})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(s.PTX, "\n")
	at := slotEmptyWaits(lines, strings.Contains(s.Config["config"], "persistent"))[1]
	k := copyOf(s.Kernel)
	k.Structure = map[string]int{"tile_q": 1, "tile_kv": 8, "stages": 1}
	k.PTX = strings.Join(slices.Delete(lines, at, at+2), "\n")
	broken, err := NewSubject(k)
	if err != nil {
		t.Fatal(err)
	}
	if _, v := measure(t, broken, onlyDefects()); v.Gates[1].Status != record.Red {
		t.Errorf("the defects gate is %s: %s", v.Gates[1].Status, v.Gates[1].Summary)
	}
}
