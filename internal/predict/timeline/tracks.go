package timeline

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/internal/predict/machine"
	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// Track is what a warp did, or asynchronous work of a block. Times are in microseconds.
type Track struct {
	Block int
	Warp  int    // Copies and Products are no warps
	Role  string // "computes", "loads", "moves" or ""
	Spans []Span // by time; those of a warp do not overlap
}

// The numbers of tracks that are not warps.
const (
	Copies   = -1 // bulk copies in flight
	Products = -2 // products of warpgroups in flight
)

// Name returns the name of the track in its block.
func (t *Track) Name() string {
	switch {
	case t.Warp == Copies:
		return "copies"
	case t.Warp == Products:
		return "products"
	case t.Role == "":
		return fmt.Sprintf("warp %d", t.Warp)
	}
	return fmt.Sprintf("warp %d %s", t.Warp, t.Role)
}

// Span is a time in which a warp ran or waited.
type Span struct {
	From, To float64
	Why      machine.Reason // Issue if it ran
}

// role is what a warp has done so far, as far as it tells its role.
type role struct{ products, copies, moves bool }

// see notes an instruction that the warp issued.
func (r *role) see(in *observe.Inst) {
	if in.Match.Form == nil {
		return
	}
	switch c := in.Match.Class(); {
	case c.Unit == isa.UnitWGMMA || c.Unit == isa.UnitTensor:
		r.products = true
	case c.Unit == isa.UnitBulkCopy || c.Unit == isa.UnitAsyncCopy:
		r.copies = true
	case c.Unit == isa.UnitLoadStore && strings.Contains(in.Op.Text, "shared"):
		r.moves = true
	}
}

func (r role) String() string {
	switch {
	case r.products:
		return "computes"
	case r.copies:
		return "loads"
	case r.moves:
		return "moves"
	}
	return ""
}

// Tracks returns what the replay did, by block and warp. The copies and products of a block come
// before its warps. A role is given only in blocks whose warps differ.
func (t *Timeline) Tracks() (list []Track) {
	t.closeAll()
	spans := map[track][]Span{}
	began := map[int]event{}
	for _, e := range t.events {
		k := track{e.Pid, e.Tid}
		switch {
		case e.Cat == "run":
			spans[k] = append(spans[k], Span{e.Ts, e.Ts + e.Dur, machine.Issue})
		case e.Cat == "wait":
			spans[k] = append(spans[k], Span{e.Ts, e.Ts + e.Dur, e.why})
		case e.Cat == "in flight" && e.Ph == "b":
			began[e.ID] = e
		case e.Cat == "in flight":
			k.warp = Copies
			if strings.HasPrefix(e.Name, "wgmma") {
				k.warp = Products
			}
			spans[k] = append(spans[k], Span{began[e.ID].Ts, e.Ts, machine.Issue})
		}
	}
	for _, k := range inOrder(spans) {
		s := spans[k]
		sorted.By(s, func(a, b Span) int { return cmp.Compare(a.From, b.From) })
		list = append(list, Track{Block: k.block, Warp: k.warp, Role: t.roleOf(k), Spans: s})
	}
	return list
}

// Dropped returns how many events the timeline does not have, because it had too many.
func (t *Timeline) Dropped() int { return t.dropped }

// roleOf returns the role of a warp, or "" if all warps of its block have the same one.
func (t *Timeline) roleOf(k track) string {
	mine, ok := t.roles[k]
	if !ok {
		return ""
	}
	for other, r := range t.roles {
		if other.block == k.block && r.String() != mine.String() {
			return mine.String()
		}
	}
	return ""
}
