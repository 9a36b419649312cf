package lab

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// checklist is the list of known ways to fool a harness, with all tests that cover each of them.
// A test is in this package unless its folder is given.
var checklist = [...]struct {
	how   string
	tests string
}{
	1:  {"the output still holds another result", "TestChecklist01"},
	2:  {"zeros are within the tolerance", "TestChecklist02"},
	3:  {"a constant is within the tolerance", "TestChecklist03 TestConstantV"},
	4:  {"the operation is nearly the identity on the inputs", "TestChecklist04"},
	5:  {"shapes without remainders", "TestChecklist05"},
	6:  {"a short output, of which only the start is compared", "TestChecklist06"},
	7:  {"inputs are changed so that the reference agrees", "TestChecklist07"},
	8:  {"NaN in the expected output matches everything", "TestChecklist08"},
	9:  {"reads and writes beyond a buffer", "TestChecklist09"},
	10: {"results remembered by pointer or by number of calls", "TestChecklist10Cheats TestChecklist10Remembered"},
	11: {"fifteen timed calls in one launch", "TestChecklist11"},
	12: {"different behaviour inside the timed loop", "TestChecklist12"},
	13: {"work is left on another stream", "TestChecklist13"},
	14: {"the timer is patched, or the event is on the wrong stream", "TestChecklist14Cheats TestChecklist14EventsElsewhere"},
	15: {"one time near zero", "TestChecklist15"},
	16: {"inputs that are warm in the L2 cache", "TestChecklist16ColdIsCold TestChecklist16Doctored"},
	17: {"the flush or the set-up counts as time of the kernel", "TestChecklist17Methods timing:TestEventTime timing:TestSpoiledGraph"},
	18: {"baseline and kernel swapped, another text timed", "TestChecklist18Named TestChecklist18Doctored"},
	19: {"zeros as timed inputs", "TestChecklist19"},
	20: {"the gate itself is wrong", "TestChecklist20 lab/gate:TestOutcomes"},
	21: {"races that usually pass", "TestChecklist21"},
	22: {"timed launches leave when the output holds an answer", "TestChecklist22OutputHoldsAnswer"},
	23: {"results in a variable of the module, under a few bytes of the inputs", "TestChecklist23ResultsInModule"},
	24: {"wrong only beyond the sizes of the plan", "TestChecklist24DerivedShapes TestChecklist24HiddenBySize TestChecklist24Grouped TestChecklist24Unreachable TestChecklist24ManyKeys TestChecklist24EveryColumn TestChecklist24HiddenByRemainder TestChecklist24Arithmetic TestChecklist24FullTiles TestChecklist24Conditions TestChecklist24Contract"},
	25: {"wrong only when a ring of tiles wraps", "TestChecklist25SlotEmptyWait TestChecklist25WrongStructure"},
	26: {"right only for a known scale, for equal scales, for known bytes, for numbers that fit f16", "TestChecklist26Inputs TestChecklist26Range"},
	27: {"guard bands are read, or written with their own bytes; inputs changed and restored", "TestChecklist27Guards TestChecklist27HiddenDefects"},
	28: {"behaviour that depends on the SM, the time or the number of the launch", "TestChecklist28Moment device/emu:TestMoment"},
	29: {"a claimed precision that is looser than the real one", "TestChecklist29Claims TestChecklist29SmallErrors TestChecklist29Inputs"},
	30: {"work that is done in the untimed check; times that underflow", "TestChecklist30Deferred TestChecklist30Doctored"},
	31: {"a rival with another clock, output or compiler", "TestChecklist31Rivals"},
}

// TestChecklist wants every number of the checklist to have tests that exist.
func TestChecklist(t *testing.T) {
	if len(checklist) != 32 {
		t.Errorf("the checklist has %d numbers", len(checklist)-1)
	}
	known := map[string]string{} // the text of all tests, by folder
	for number, item := range checklist[1:] {
		if item.how == "" || item.tests == "" {
			t.Errorf("number %d has no test", number+1)
		}
		for _, name := range strings.Fields(item.tests) {
			folder, test, ok := strings.Cut(name, ":")
			if !ok {
				folder, test = "lab", name
			}
			if known[folder] == "" {
				known[folder] = testsOf(t, filepath.Join("..", folder))
			}
			if !regexp.MustCompile(`(?m)^func ` + test + `\(`).MatchString(known[folder]) {
				t.Errorf("number %d: there is no %s in %s", number+1, test, folder)
			}
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^func (TestChecklist(\d\d)\w*)`).FindAllStringSubmatch(known["lab"], -1) {
		n, _ := strconv.Atoi(m[2])
		if n < 1 || n >= len(checklist) || !strings.Contains(checklist[n].tests, m[1]) {
			t.Errorf("%s is not in the table", m[1])
		}
	}
}

// testsOf returns the text of the tests in a folder.
func testsOf(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

func TestChecklist01(t *testing.T) { judgeWrong(t, 1) }
func TestChecklist02(t *testing.T) { judgeWrong(t, 2); judgePowerless(t, 2) }
func TestChecklist03(t *testing.T) { judgeWrong(t, 3); judgePowerless(t, 3) }
func TestChecklist04(t *testing.T) { judgePowerless(t, 4) }
func TestChecklist05(t *testing.T) { judgePowerless(t, 5) }
func TestChecklist06(t *testing.T) { judgeWrong(t, 6); judgeDoctored(t, 6) }
func TestChecklist07(t *testing.T) { judgeWrong(t, 7) }
func TestChecklist08(t *testing.T) { judgeWrong(t, 8); judgeDoctored(t, 8) }
func TestChecklist09(t *testing.T) { judgeWrong(t, 9) }

func TestChecklist10Cheats(t *testing.T) { judgeCheats(t, 10) }
func TestChecklist11(t *testing.T)       { judgeCheats(t, 11) }
func TestChecklist12(t *testing.T)       { judgeCheats(t, 12) }
func TestChecklist13(t *testing.T)       { judgeCheats(t, 13) }
func TestChecklist14Cheats(t *testing.T) { judgeCheats(t, 14) }
func TestChecklist15(t *testing.T)       { judgeCheats(t, 15) }

func TestChecklist16Doctored(t *testing.T) { judgeDoctored(t, 16) }
func TestChecklist18Doctored(t *testing.T) { judgeDoctored(t, 18) }
func TestChecklist19(t *testing.T)         { judgeDoctored(t, 19) }
func TestChecklist20(t *testing.T)         { judgeDoctored(t, 20) }
func TestChecklist21(t *testing.T)         { judgeWrong(t, 21) }
func TestChecklist30Doctored(t *testing.T) { judgeDoctored(t, 30) }

// TestChecklist24DerivedShapes judges a kernel that is wrong for lengths that no listed case of
// the plan has. The shapes that are derived from its structure find it.
func TestChecklist24DerivedShapes(t *testing.T) {
	s := tampered(t, "stage0", "", ".reg .b32 %w; .reg .pred %cp;\nld.param.u32 %w, [seq]; setp.gt.u32 %cp, %w, 130; @%cp ret;", "")
	p := Smoke()
	p.Seed, p.Ask.Ptxas, p.References = 1, "", shared
	_, v := measure(t, s, p)
	wants(t, v, record.Reject, "never written")
	p.Depth = Listed
	_, v = measure(t, s, p)
	wants(t, v, record.Correct, "")
}

// TestChecklist31Rivals times rivals that differ from the kernel: by their clock, by a coarse type
// of the output, by a wrong output. The record must show each of them.
func TestChecklist31Rivals(t *testing.T) {
	if !beside(t) {
		t.Skip("no Python")
	}
	p := timingPlan(newCard())
	for _, name := range []string{"right", "events", "coarse", "first"} {
		p.Times.Rivals = append(p.Times.Rivals, RivalChoice{Library: "values", Implementation: name})
	}
	perf, err := Time(t.Context(), preset(t, "stage2"), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	one := &perf.Shapes[0]
	if len(one.Rivals) != 4 {
		t.Fatalf("%d rivals: %q", len(one.Rivals), perf.Notes)
	}
	if one.ByHost(one.Names[0]) {
		t.Errorf("the host's clock timed the kernel: %+v", one.Runs[0].Candidates[0].Method)
	}
	rmse := map[string]float64{}
	for _, r := range one.Rivals {
		rmse[r.Name] = r.RMSE
		if r.Version != "1.0, nvcc 12.4" {
			t.Errorf("%s: version %q does not name the compiler", r.Name, r.Version)
		}
		if one.ByHost(r.Name) != (r.Name != "values events f16") {
			t.Errorf("%s: by the host's clock: %v", r.Name, one.ByHost(r.Name))
		}
	}
	right, coarse, wrong := rmse["values right f16"], rmse["values coarse f16"], rmse["values first f16"]
	if right > 1e-5 || coarse < 0.01 || coarse > 0.03 || wrong < 0.5 || rmse["values events f16"] != right {
		t.Errorf("errors: %v", rmse)
	}
}

// TestChecklist24FullTiles: for every seed, a derived case of a decode kernel has a tile that is more
// than half full, and keys that several blocks split. Two mutants of the merge passed without one.
func TestChecklist24FullTiles(t *testing.T) {
	for _, rows := range []int{16, 32, 64} {
		s, err := Preset("decode", problem.Attention{Shape: problem.Shape{B: 1, Hq: 1, Hkv: 1, Sq: rows, Skv: 8192, D: 64}, Format: "e4m3"}, kernel.Chip{SharedPerSM: 228 << 10})
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(20) {
			d := newDeriver(&measurement{s: s, p: Plan{Depth: RingsOnly, Seed: seed}, heads: problem.HeadDim{D: 64}})
			if !slices.ContainsFunc(d.cases(), func(c Case) bool {
				return 2*c.Shape.Sq*c.Shape.Hq/c.Shape.Hkv > rows && c.Shape.Skv > 2*d.ring
			}) {
				t.Errorf("%d rows, seed %d: no case fills the tile and splits the keys", rows, seed)
			}
		}
	}
}
