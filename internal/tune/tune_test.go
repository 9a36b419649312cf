package tune

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/kernels/attn/hopper"
	"github.com/GOATnote-Inc/attest/kernels/attn/stages"
	"github.com/GOATnote-Inc/attest/ptx"
)

var space = Stages{stages.Problem{Batch: 1, Heads: 8, Seq: 512, HeadDim: 64, Format: fp8.U8}, ptx.SM89}

func start(t *testing.T) stages.Config {
	t.Helper()
	p, err := stages.FindPreset("stage3b", 64)
	if err != nil {
		t.Fatal(err)
	}
	return p.Config
}

// TestNeighbours wants every neighbour to be possible and to differ in one field, and
// every field to be varied by some configuration.
func TestNeighbours(t *testing.T) {
	varied := map[string]bool{}
	for _, p := range stages.Presets(64) {
		for _, n := range space.Neighbours(p.Config) {
			if err := n.Check(space.Problem, space.Target); err != nil {
				t.Errorf("%s: %v", p.Name, err)
			}
			a, b := reflect.ValueOf(p.Config), reflect.ValueOf(n)
			var fields []string
			for i := range a.NumField() {
				if a.Field(i).Interface() != b.Field(i).Interface() {
					fields = append(fields, a.Type().Field(i).Name)
				}
			}
			if len(fields) != 1 {
				t.Errorf("%s: %v differs in %v", p.Name, n, fields)
			}
			varied[fields[0]] = true
		}
	}
	for i := range reflect.TypeFor[stages.Config]().NumField() {
		if name := reflect.TypeFor[stages.Config]().Field(i).Name; !varied[name] {
			t.Errorf("the search never changes %s", name)
		}
	}
}

// TestHopperNeighbours wants the same of those for Hopper, and all designs among them.
func TestHopperNeighbours(t *testing.T) {
	space := Hopper{hopper.Square(1, 8, 512, 64, fp8.E4M3)}
	varied := map[string]bool{}
	for _, d := range hopper.Designs() {
		c := d.Config(space.Problem, sms)
		near := space.Neighbours(c)
		for _, n := range near {
			if err := n.Check(space.Problem); err != nil {
				t.Errorf("%s: %v", d.Name, err)
			}
			a, b := reflect.ValueOf(c), reflect.ValueOf(n)
			for i := range a.NumField() {
				if a.Field(i).Interface() != b.Field(i).Interface() {
					varied[a.Type().Field(i).Name] = true
				}
			}
		}
		for _, other := range hopper.Designs() {
			if n := other.Config(space.Problem, sms); n != c && n.Check(space.Problem) == nil && !slices.Contains(near, n) {
				t.Errorf("%s is not reached from %s", other.Name, d.Name)
			}
		}
	}
	for i := range reflect.TypeFor[hopper.Config]().NumField() {
		if name := reflect.TypeFor[hopper.Config]().Field(i).Name; !varied[name] {
			t.Errorf("the search never changes %s", name)
		}
	}
}

// worth makes wide tiles of keys and the swizzle fast, and a table of bytes wrong.
func worth(tried *int) func(context.Context, stages.Config) (Trial[stages.Config], error) {
	return func(_ context.Context, c stages.Config) (Trial[stages.Config], error) {
		*tried++
		us := 100 - float64(c.TileN)/10
		if c.Swizzle {
			us -= 30
		}
		if c.TileM != 64 {
			us += 5
		}
		return Trial[stages.Config]{Config: c, Name: c.String(), SHA256: c.String(), Green: !c.LUT && !c.FastExp, Micros: us, Ratio: us / 100}, nil
	}
}

func TestSearch(t *testing.T) {
	tried, saved := 0, 0
	x := &Search[stages.Config]{Neighbours: space.Neighbours, Start: start(t), Budget: 1000, Try: worth(&tried), Each: func(*State[stages.Config]) error { saved++; return nil }}
	s := &State[stages.Config]{}
	spent, err := x.Run(t.Context(), s)
	if err != nil || spent {
		t.Fatalf("%v, spent %v", err, spent)
	}
	best := s.Best(Keep)
	if len(best) != Keep || !best[0].Config.Swizzle || best[0].Config.TileN != 128 || best[0].Config.LUT {
		t.Errorf("the best are %+v", best)
	}
	if tried != len(s.Trials) || saved != tried || s.Green() == tried {
		t.Errorf("%d tried, %d saved, %d in the state, %d green", tried, saved, len(s.Trials), s.Green())
	}
	if s.Trials[0].Config != x.Start {
		t.Error("the first trial is not the start")
	}
}

// TestResume interrupts a search after each number of trials and wants the same end.
func TestResume(t *testing.T) {
	whole, tried := &State[stages.Config]{}, 0
	x := &Search[stages.Config]{Neighbours: space.Neighbours, Start: start(t), Budget: 40, Try: worth(&tried), Each: func(*State[stages.Config]) error { return nil }}
	if spent, err := x.Run(t.Context(), whole); err != nil || !spent || tried != 40 {
		t.Fatalf("%v, spent %v after %d", err, spent, tried)
	}
	stop := errors.New("interrupted")
	for at := 1; at < 40; at += 12 {
		path := filepath.Join(t.TempDir(), "state.json")
		g := Goal{Kernel: "stage3b"}
		s, err := Load[stages.Config](path, g)
		if err != nil {
			t.Fatal(err)
		}
		x.Each = func(s *State[stages.Config]) error {
			if err := s.Save(path); err != nil {
				t.Fatal(err)
			}
			if len(s.Trials) == at {
				return stop
			}
			return nil
		}
		if _, err := x.Run(t.Context(), s); !errors.Is(err, stop) {
			t.Fatal(err)
		}
		again, err := Load[stages.Config](path, g)
		if err != nil || len(again.Trials) != at {
			t.Fatalf("%v, %d trials", err, len(again.Trials))
		}
		tried = 0
		x.Each = func(*State[stages.Config]) error { return nil }
		if _, err := x.Run(t.Context(), again); err != nil {
			t.Fatal(err)
		}
		if tried != 40-at || !reflect.DeepEqual(again.Trials, whole.Trials) {
			t.Errorf("interrupted after %d: %d more were tried, another end", at, tried)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	tried := 0
	x := &Search[stages.Config]{Neighbours: space.Neighbours, Start: start(t), Budget: 40, Try: worth(&tried), Each: func(s *State[stages.Config]) error {
		if len(s.Trials) == 5 {
			cancel()
		}
		return nil
	}}
	if _, err := x.Run(ctx, &State[stages.Config]{}); !errors.Is(err, context.Canceled) || tried != 5 {
		t.Errorf("%v after %d", err, tried)
	}
}

func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state.json")
	if err := (&State[stages.Config]{Schema: Schema, Goal: Goal{Kernel: "stage2"}}).Save(path); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(dir, "broken.json")
	newer := filepath.Join(dir, "newer.json")
	for name, text := range map[string]string{broken: `{"schema": 1, "trials": [`, newer: `{"schema": 99}`} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{path: "is another search (stage2", broken: "is not a search", newer: "has schema 99"} {
		if _, err := Load[stages.Config](name, Goal{Kernel: "stage3b"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
