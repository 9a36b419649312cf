package predict

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/internal/predict/machine"
	"github.com/GOATnote-Inc/attest/internal/predict/warptrace"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// weighing returns a launch of clusters that execute as many instructions as their weights say. The
// clusters are recorded at the given places of a grid.
func weighing(count int, places, weights []int) *warptrace.Launch {
	l := &warptrace.Launch{Count: count}
	for i, n := range weights {
		// Half of the instructions are those of a second warp.
		block := warptrace.Block{Warps: [][]warptrace.Event{make([]warptrace.Event, n/2), make([]warptrace.Event, n-n/2)}}
		l.Clusters = append(l.Clusters, &warptrace.Cluster{Index: places[i], Blocks: []warptrace.Block{block}})
	}
	return l
}

// TestPlaceByHand wants the clusters of the busiest group of SMs, by weights that can be added in the head.
func TestPlaceByHand(t *testing.T) {
	for _, c := range []struct {
		name             string
		l                *warptrace.Launch
		groups, resident int
		want             []int
		holds            int // Resident of the plan
	}{
		{"as many clusters as groups", weighing(3, []int{0, 1, 2}, []int{4, 9, 5}), 3, 2, []int{1}, 1},
		{"equal weights", weighing(5, []int{0}, []int{6}), 2, 2, []int{0, 0, 0}, 2},
		{"equal weights, even", weighing(4, []int{0}, []int{6}), 2, 2, []int{0, 0}, 2},
		// The long one occupies the first group, and the five short ones follow each other in the
		// second: 5 and 5. The first of equally busy groups counts.
		{"a tie", weighing(6, []int{0, 1, 2, 3, 4, 5}, []int{5, 1, 1, 1, 1, 1}), 2, 1, []int{0}, 1},
		{"one more", weighing(7, []int{0, 1, 2, 3, 4, 5, 6}, []int{5, 1, 1, 1, 1, 1, 2}), 2, 1, []int{0, 6}, 1},
		// Slots 0 and 2 belong to the first group. They start 0 and 2, and 4 follows 2, which ends first.
		{"two slots", weighing(5, []int{0, 1, 2, 3, 4}, []int{9, 3, 2, 3, 7}), 2, 2, []int{0, 2, 4}, 2},
	} {
		p := placeAll(c.l, c.groups, c.resident)
		if !slices.Equal(p.Clusters, c.want) || p.Resident != c.holds {
			t.Errorf("%s: %v with %d at once, want %v with %d", c.name, p.Clusters, p.Resident, c.want, c.holds)
		}
	}
	// A place in the middle between two recorded clusters counts as the first.
	far := weighing(11, []int{0, 10}, []int{1, 2})
	for n, want := range map[int]int{0: 0, 4: 0, 5: 0, 6: 1, 10: 1} {
		if got := nearest(far, n); got != want {
			t.Errorf("place %d counts as cluster %d, want %d", n, got, want)
		}
	}
}

// TestBusyCycles wants each pipe to be counted for the unit that a reader knows.
func TestBusyCycles(t *testing.T) {
	r := machine.Result{Ops: 84, Cores: 4, SharedBusy: 5, GlobalBusy: 6}
	for u, n := range map[machine.Unit]float64{
		machine.Tensor: 1, machine.Exp: 10, machine.Convert: 20, machine.Float: 100, machine.IMad: 200, machine.Half: 50, machine.Double: 60, machine.ALU: 1000, machine.Pack: 2000,
	} {
		r.Busy[u] = n
	}
	want := [units]float64{Tensor: 1, Exp: 30, Float: 300, Integer: 3000, Issue: 21, Shared: 5, Global: 6}
	if got := busyCycles(&r); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	r.Busy[machine.Half] = 400
	if got := busyCycles(&r)[Float]; got != 400 {
		t.Errorf("a pipe for f16 that is busier than that for f32: %v cycles", got)
	}
	r.Busy[machine.Double] = 500
	if got := busyCycles(&r)[Float]; got != 500 {
		t.Errorf("a pipe for f64 that is the busiest: %v cycles", got)
	}
}

// TestStretch wants the time to grow in which neither a unit nor memory sets the pace.
func TestStretch(t *testing.T) {
	at := func(tensor float64) machine.Result {
		return machine.Result{Cycles: 115, Cores: 4, GlobalBusy: 110, Busy: [len(machine.Result{}.Busy)]float64{machine.Tensor: tensor}, Spent: map[machine.Spender]float64{
			{ID: 0, Why: machine.MemoryWait}: 40, {ID: -1, Why: machine.Start}: 20, {ID: 1, Why: machine.Issue}: 60,
		}}
	}
	// 40/4 cycles of memory and 20/4 of starts are known, and 100 remain.
	for _, c := range []struct{ tensor, want float64 }{
		{0, 15 + 2*100},
		{50, 15 + 12.5 + 2*87.5}, // a unit that is busy for a half sets the pace for an eighth
		{100, 115},
		{114, 115},
	} {
		r := at(c.tensor)
		if stretch(&r, 2); math.Abs(r.Cycles-c.want) > 1e-9 {
			t.Errorf("%v cycles of tensor cores: %v cycles, want %v", c.tensor, r.Cycles, c.want)
		}
		if got, want := r.Spent[machine.Spender{ID: 1, Why: machine.Issue}], 60*c.want/115; math.Abs(got-want) > 1e-9 {
			t.Errorf("%v cycles of tensor cores: %v cycles of issue, want %v", c.tensor, got, want)
		}
	}
	r := at(0)
	r.Cycles = 15 // memory alone
	if stretch(&r, 2); r.Cycles != 15 {
		t.Errorf("%v cycles, want 15", r.Cycles)
	}
}

// instructions returns a program of instructions with their source lines.
func instructions(t *testing.T, lines ...[2]string) (program []observe.Inst) {
	t.Helper()
	var body strings.Builder
	for _, l := range lines {
		body.WriteString(l[0] + "\n")
	}
	m, err := parse.Parse("k.ptx", ".version 8.0\n.target sm_90a\n.address_size 64\n.entry k()\n{\n"+body.String()+"}\n")
	if err != nil {
		t.Fatal(err)
	}
	f := m.Funcs()[0]
	for _, s := range f.Body {
		in, ok := s.(*ptx.Inst)
		if !ok {
			continue
		}
		b, err := isa.BindInst(in)
		if err != nil {
			t.Fatal(err)
		}
		program = append(program, observe.Inst{Bound: b, Func: f, Source: lines[len(program)][1], ID: len(program)})
	}
	return program
}

// TestDivide distributes times by hand: two copies of one source line, another line of another file,
// an instruction without a source, and time that belongs to no instruction.
func TestDivide(t *testing.T) {
	l := &warptrace.Launch{Program: instructions(t,
		[2]string{"membar.gl;", "a/first.go:7:2"}, [2]string{"membar.gl;", "a/first.go:7:2"}, [2]string{"bar.sync 0;", "b/second.go:9:1"}, [2]string{"ret;", ""}, [2]string{"ret;", ""})}
	r := &machine.Result{Spent: map[machine.Spender]float64{
		{ID: 0, Why: machine.Issue}: 1, {ID: 1, Why: machine.Issue}: 2, {ID: 1, Why: machine.MemoryWait}: 8,
		{ID: 2, Why: machine.Barrier}: 16, {ID: 3, Why: machine.Issue}: 32, {ID: 4, Why: machine.Issue}: 64, {ID: -1, Why: machine.Idle}: 128,
	}}
	p := &Profile{Micros: 1000}
	p.divide(l, r, 0.5, 7)
	p.finish()
	reasons := map[string]float64{}
	for _, s := range p.Reasons {
		reasons[s.Reason] = s.Micros
	}
	for reason, want := range map[string]float64{launching: 7, "issue": 49.5, "memory": 4, "barrier": 8, "idle": 64, "dependence": 0} {
		if reasons[reason] != want {
			t.Errorf("%s: %v µs, want %v", reason, reasons[reason], want)
		}
	}
	if p.Reasons[0].Reason != launching {
		t.Errorf("the first reason is %s", p.Reasons[0].Reason)
	}
	phases := []Part{
		{Name: "no source", Micros: 48, Share: 0.048, Reasons: []Spent{{"issue", 48}}},
		{Name: "second.go", Micros: 8, Share: 0.008, Reasons: []Spent{{"barrier", 8}}},
		{Name: "first.go", Micros: 5.5, Share: 0.0055, Reasons: []Spent{{"memory", 4}, {"issue", 1.5}}},
	}
	if !reflect.DeepEqual(p.Phases, phases) {
		t.Errorf("phases %+v, want %+v", p.Phases, phases)
	}
	lines := []Part{
		{Name: "ret", Line: 10, Copies: 1, Micros: 32, Share: 0.032, Reasons: []Spent{{"issue", 32}}},
		{Name: "ret", Line: 9, Copies: 1, Micros: 16, Share: 0.016, Reasons: []Spent{{"issue", 16}}},
		{Name: "bar.sync", Line: 8, Copies: 1, Source: "b/second.go:9:1", Micros: 8, Share: 0.008, Reasons: []Spent{{"barrier", 8}}},
		{Name: "membar.gl", Line: 6, Copies: 2, Source: "a/first.go:7:2", Micros: 5.5, Share: 0.0055, Reasons: []Spent{{"memory", 4}, {"issue", 1.5}}},
	}
	if !reflect.DeepEqual(p.Lines, lines) {
		t.Errorf("lines %+v, want %+v", p.Lines, lines)
	}
	if got := p.Spent[machine.Spender{ID: 1, Why: machine.MemoryWait}]; got != 4 || len(p.Spent) != len(r.Spent) {
		t.Errorf("%v µs, %d entries", got, len(p.Spent))
	}
	if none := (&Part{}).Main(); none != "" || phases[2].Main() != "memory" {
		t.Errorf("the main reasons are %q and %q", none, phases[2].Main())
	}
}

// TestPhaseNames wants files as phases, or lines if all of them are of one file.
func TestPhaseNames(t *testing.T) {
	one := []observe.Inst{{Source: "a/first.go:7:2"}, {Source: ""}, {Source: "a/first.go:8:2"}}
	two := append(slices.Clone(one), observe.Inst{Source: "b/second.go:1:1"})
	for _, c := range []struct {
		program      []observe.Inst
		source, want string
	}{
		{one, "a/first.go:8:2", "first.go:8"}, {one, "", "no source"}, {two, "a/first.go:8:2", "first.go"}, {two, "b/second.go:1:1", "second.go"},
	} {
		if got := phaseNames(c.program)(c.source); got != c.want {
			t.Errorf("%q is %q, want %q", c.source, got, c.want)
		}
	}
	for source, want := range map[string][2]string{"a.go:12:3": {"a.go", "12"}, ":1:2": {"", "1"}, "a.go": {"a.go", ""}, "a.go:5": {"a.go", ""}} {
		if file, line := split(source); file != want[0] || line != want[1] {
			t.Errorf("%q is line %q of %q, want %q of %q", source, line, file, want[1], want[0])
		}
	}
}

// TestCompareByHand wants differences with their signs, the largest first, and the reason that explains most
// of a phase.
func TestCompareByHand(t *testing.T) {
	a := &Profile{Micros: 10, Reasons: []Spent{{"issue", 4}, {"memory", 6}},
		Phases: []Part{{Name: "same", Reasons: []Spent{{"issue", 4}, {"memory", 1}}}, {Name: "gone", Reasons: []Spent{{"memory", 5}}}}}
	b := &Profile{Micros: 13, Reasons: []Spent{{"issue", 2}, {"memory", 11}},
		Phases: []Part{{Name: "same", Reasons: []Spent{{"issue", 1}, {"memory", 3}}}, {Name: "new", Reasons: []Spent{{"memory", 9}}}}}
	want := &Difference{
		Micros:  3,
		Reasons: []Delta{{Name: "memory", A: 6, B: 11, Difference: 5}, {Name: "issue", A: 4, B: 2, Difference: -2}},
		Phases: []Delta{
			{Name: "new", B: 9, Difference: 9, Mostly: "memory"},
			{Name: "gone", A: 5, Difference: -5, Mostly: "memory"},
			{Name: "same", A: 5, B: 4, Difference: -1, Mostly: "issue"},
		},
	}
	if got := Compare(a, b); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	// The other way round, the signs change.
	back := Compare(b, a).Phases[2]
	if back != (Delta{Name: "same", A: 4, B: 5, Difference: 1, Mostly: "issue"}) {
		t.Errorf("%+v", back)
	}
	// A reason that grows most explains nothing of a phase that shrinks.
	shrinks := Compare(
		&Profile{Phases: []Part{{Name: "p", Reasons: []Spent{{"issue", 3}, {"memory", 3}, {"barrier", 0}}}}},
		&Profile{Phases: []Part{{Name: "p", Reasons: []Spent{{"issue", 0}, {"memory", 1}, {"barrier", 4}}}}})
	if got := shrinks.Phases[0]; got != (Delta{Name: "p", A: 6, B: 5, Difference: -1, Mostly: "issue"}) {
		t.Errorf("%+v", got)
	}
}

// TestSumByHand adds two launches.
func TestSumByHand(t *testing.T) {
	units := func(tensor, shared float64) []Busy {
		list := make([]Busy, units)
		for u := range list {
			list[u].Unit = Unit(u)
		}
		list[Tensor].Micros, list[Shared].Micros = tensor, shared
		return list
	}
	a := &Profile{Blocks: 1, Waves: 2, Micros: 10, Low: 9, High: 12, Floor: 4, Units: units(4, 3), Reasons: []Spent{{launching, 1}, {"issue", 9}},
		Phases: []Part{{Name: "x", Micros: 6}}, Lines: []Part{{Name: "add", Line: 3, Micros: 6}}}
	b := &Profile{Blocks: 10, Waves: 20, Micros: 30, Low: 20, High: 40, Floor: 8, Units: units(1, 8), Reasons: []Spent{{launching, 2}, {"issue", 5}, {"memory", 23}},
		Phases: []Part{{Name: "x", Micros: 8}}, Lines: []Part{{Name: "mul", Line: 4, Micros: 8}}}
	s := Sum([]*Profile{a, b}, []string{"one", "two"})
	if s.Blocks != 11 || s.Waves != 22 || s.Micros != 40 || s.Low != 29 || s.High != 52 || s.Floor != 12 {
		t.Errorf("%+v", s)
	}
	if s.Of(Tensor) != 5 || s.Of(Shared) != 11 || s.Limit != Shared {
		t.Errorf("the units are %v, the limit is %v", s.Units, s.Limit)
	}
	if !reflect.DeepEqual(s.Lines, []Part{{Name: "mul", Line: 4, Micros: 8, Share: 0.2}, {Name: "add", Line: 3, Micros: 6, Share: 0.15}}) {
		t.Errorf("lines %+v", s.Lines)
	}
	if !reflect.DeepEqual(s.Phases, []Part{{Name: "two x", Micros: 8, Share: 0.2}, {Name: "one x", Micros: 6, Share: 0.15}}) {
		t.Errorf("phases %+v", s.Phases)
	}
	got := map[string]float64{}
	for _, r := range s.Reasons {
		got[r.Reason] = r.Micros
	}
	if got[launching] != 3 || got["issue"] != 14 || got["memory"] != 23 {
		t.Errorf("reasons %v", got)
	}
}

// TestClassByHand wants the class by the instructions that were executed, whatever else the program holds.
func TestClassByHand(t *testing.T) {
	group := func(formats, factors string) [2]string {
		acc := "{" + strings.TrimSuffix(strings.Repeat("%f1, ", 4), ", ") + "}"
		return [2]string{"wgmma.mma_async.sync.aligned.m64n8" + formats + " " + acc + ", %rd1, %rd2, 1, 1, 1" + factors + ";", ""}
	}
	const warp = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f1, %f1, %f1}, {%r1, %r1, %r1, %r1}, {%r1, %r1}, {%f1, %f1, %f1, %f1};"
	program := instructions(t, group("k32.f32.e4m3.e4m3", ""), group("k32.f32.e5m2.e5m2", ""), group("k16.f32.f16.f16", ", 0, 0"), [2]string{warp, ""}, [2]string{"ret;", ""})
	for _, c := range []struct {
		executed []int32
		want     Class
	}{
		{[]int32{4}, NoProducts}, {[]int32{3, 4}, WarpProducts}, {[]int32{2, 4}, GroupProducts16}, {[]int32{2, 3}, GroupProducts16}, {[]int32{0}, GroupProducts8}, {[]int32{1, 2, 3}, GroupProducts8},
	} {
		var events []warptrace.Event
		for _, id := range c.executed {
			events = append(events, warptrace.Event{ID: id})
		}
		l := &warptrace.Launch{Program: program, Clusters: []*warptrace.Cluster{{Blocks: []warptrace.Block{{Warps: [][]warptrace.Event{events}}}}}}
		for range 8 { // instructions are visited in random order
			if got := ClassOf(l); got != c.want {
				t.Errorf("%v: %q, want %q", c.executed, got, c.want)
			}
		}
	}
}
