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

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels"
	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/kernels/attn/stages"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

var space = Space{stages.Family{}, problem.Attention{Shape: problem.Square(1, 8, 512, 64), Format: problem.U8}, kernel.Chip{Target: ptx.SM89}}

func start(t *testing.T) attn.Config {
	t.Helper()
	c, err := space.Family.Configure("stage3b", space.Problem, space.Chip)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestNeighbours wants every neighbour to be possible, every axis to be varied within two steps
// of some variant, and every variant that can compute the problem to be reached from every
// other, in each family.
func TestNeighbours(t *testing.T) {
	for _, f := range kernels.Families() {
		space := Space{f, problem.Attention{Shape: problem.Square(1, 8, 512, 64)}.Filled(), kernel.Chip{}}
		if f.Name() == "decode" { // it computes few queries, has dependent launches on Hopper only, and reads pages
			space.Problem.Sq, space.Chip.Target = 20, ptx.SM90a
			space.Problem.Keys, space.Problem.PageSize = problem.Paged, 16
		}
		var variants []attn.Config
		for _, v := range f.Variants() {
			c, err := f.Configure(v.Name, space.Problem, space.Chip)
			if err != nil {
				t.Fatal(err)
			}
			if f.Check(space.Problem, space.Chip, c) == nil {
				variants = append(variants, c)
			}
		}
		varied := map[string]bool{}
		for _, c := range variants {
			near := space.Neighbours(c)
			for _, other := range variants {
				if other != c && !slices.Contains(near, other) {
					t.Errorf("%s is not reached from %s", other, c)
				}
			}
			vary(t, space, c, near, varied)
			for _, n := range near { // where registers are short, another axis has to change first
				if len(varied) == len(f.Axes()) {
					break
				}
				vary(t, space, n, space.Neighbours(n), varied)
			}
		}
		for _, axis := range f.Axes() {
			if name := strings.Join(axis.Path, "."); !varied[name] {
				t.Errorf("%s: the search never changes %s", f.Name(), name)
			}
		}
	}
}

// vary notes the axes by which neighbours differ from a configuration. Each neighbour must be possible.
func vary(t *testing.T, space Space, c attn.Config, near []attn.Config, varied map[string]bool) {
	t.Helper()
	for _, n := range near {
		if err := space.Family.Check(space.Problem, space.Chip, n); err != nil {
			t.Errorf("%s: %v", n, err)
		}
		for _, axis := range space.Family.Axes() {
			for _, v := range axis.Values {
				if same, err := n.With(axis.Path, v); err == nil && same == n {
					if was, err := c.With(axis.Path, v); err == nil && was != c {
						varied[strings.Join(axis.Path, ".")] = true
					}
				}
			}
		}
	}
}

// worth makes wide tiles of keys and the swizzle fast, and a table of bytes wrong.
func worth(tried *int) func(context.Context, attn.Config) (Trial, error) {
	return func(_ context.Context, config attn.Config) (Trial, error) {
		*tried++
		c, err := attn.Decode[stages.Config](config)
		if err != nil {
			return Trial{}, err
		}
		us := 100 - float64(c.TileN)/10
		if c.Swizzle {
			us -= 30
		}
		if c.TileM != 64 {
			us += 5
		}
		return Trial{Config: config, Name: c.String(), SHA256: c.String(), Green: !c.LUT && !c.FastExp, Micros: us, Ratio: us / 100}, nil
	}
}

func TestSearch(t *testing.T) {
	tried, saved := 0, 0
	x := &Search{Neighbours: space.Neighbours, Start: start(t), Budget: 1000, Try: worth(&tried), Each: func(*State) error { saved++; return nil }}
	s := &State{}
	spent, err := x.Run(t.Context(), s)
	if err != nil || spent {
		t.Fatalf("%v, spent %v", err, spent)
	}
	best := s.Best(Keep)
	first, err := attn.Decode[stages.Config](best[0].Config)
	if err != nil || len(best) != Keep || !first.Swizzle || first.TileN != 128 || first.LUT {
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
	whole, tried := &State{}, 0
	x := &Search{Neighbours: space.Neighbours, Start: start(t), Budget: 40, Try: worth(&tried), Each: func(*State) error { return nil }}
	if spent, err := x.Run(t.Context(), whole); err != nil || !spent || tried != 40 {
		t.Fatalf("%v, spent %v after %d", err, spent, tried)
	}
	stop := errors.New("interrupted")
	for at := 1; at < 40; at += 12 {
		path := filepath.Join(t.TempDir(), "state.json")
		g := Goal{Kernel: "stage3b"}
		s, err := Load(path, g)
		if err != nil {
			t.Fatal(err)
		}
		x.Each = func(s *State) error {
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
		again, err := Load(path, g)
		if err != nil || len(again.Trials) != at {
			t.Fatalf("%v, %d trials", err, len(again.Trials))
		}
		tried = 0
		x.Each = func(*State) error { return nil }
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
	x := &Search{Neighbours: space.Neighbours, Start: start(t), Budget: 40, Try: worth(&tried), Each: func(s *State) error {
		if len(s.Trials) == 5 {
			cancel()
		}
		return nil
	}}
	if _, err := x.Run(ctx, &State{}); !errors.Is(err, context.Canceled) || tried != 5 {
		t.Errorf("%v after %d", err, tried)
	}
}

func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state.json")
	if err := (&State{Schema: Schema, Goal: Goal{Kernel: "stage2"}}).Save(path); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(dir, "broken.json")
	newer := filepath.Join(dir, "newer.json")
	for name, text := range map[string]string{broken: `{"schema": 1, "trials": [`, newer: `{"schema": 99}`} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{path: "holds another search (stage2", broken: "is not the state of a search", newer: "has schema 99"} {
		if _, err := Load(name, Goal{Kernel: "stage3b"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
