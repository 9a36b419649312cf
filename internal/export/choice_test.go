package export

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels"
	"github.com/GOATnote-Inc/attest/problem"
)

// choiceChips are the GPUs whose choices are compared, with the problems of an export. The numbers
// of SMs are those of GPUs with the same target.
var choiceChips = []struct {
	name  string
	dims  []int
	batch []problem.Placement // of the keys
	sms   []int
}{
	{"H100", []int{64, 128, 256}, []problem.Placement{problem.Uniform}, []int{132, 114, 78}},
	{"H100", []int{96}, []problem.Placement{problem.Uniform, problem.Padded}, []int{132}},
	{"L4", []int{64, 128}, []problem.Placement{problem.Uniform}, []int{58, 142, 20}},
}

var full = flag.Bool("full", false, "more problems and head dimensions, which takes a minute")

// TestChoice compares the choice of exported files with that of package kernels, on random sizes.
func TestChoice(t *testing.T) {
	for _, of := range choiceChips {
		t.Run(fmt.Sprint(of.name, of.dims), func(t *testing.T) {
			t.Parallel()
			chip, err := chips.Find(of.name)
			if err != nil {
				t.Fatal(err)
			}
			if !*full {
				of.dims = of.dims[:1] // most of the time goes to writing the kernels of each
			}
			var like []problem.Attention
			for _, d := range of.dims {
				for _, keys := range of.batch {
					for _, causal := range []bool{false, true} {
						p := problem.Attention{Shape: problem.Shape{D: d}, Keys: keys, Causal: causal}
						if p.Ragged() {
							p.Layout = problem.BSHD
						}
						like = append(like, p)
					}
				}
			}
			b, err := Collect(context.Background(), Request{Kind: "torch", Chip: chip, Problems: like, Say: t.Logf})
			if err != nil {
				t.Fatal(err)
			}
			for i := range b.Kernels {
				b.Kernels[i].PTX = "\n" // which does not matter to the choice
			}
			c, err := chipOf(chip)
			if err != nil {
				t.Fatal(err)
			}
			problems := 300
			if *full {
				problems = 2000
			}
			r := rand.New(rand.NewPCG(3, 4))
			var cases []choiceCase
			for range problems {
				cases = append(cases, newChoiceCase(r, like, c, of.sms))
			}
			b.compare(t, "Python", cases, pythonChoices(t, b, cases))
			if !slices.Contains(of.batch, problem.Padded) { // the header has no caches
				b.compare(t, "C", cases, cChoices(t, b, cases))
			}
		})
	}
}

// choiceCase is a problem and the kernel that package kernels chooses for it, or "".
type choiceCase struct {
	p      problem.Attention
	sms    int
	kernel string
}

// described returns what tells the kernels of a test from each other.
func described(name, config string, p problem.Attention, grouped bool) string {
	if name == "decode" || name == "prefill" { // they compute grouped heads always
		grouped = false
	}
	return fmt.Sprintf("%s %s D=%d causal=%t grouped=%t", name, config, p.D, p.Causal, grouped)
}

func newChoiceCase(r *rand.Rand, like []problem.Attention, c kernel.Chip, sms []int) choiceCase {
	p := like[r.IntN(len(like))]
	for p.Shape = (problem.Shape{D: p.D}); p.Check() != nil; { // some sizes are too large for any tensor
		randomSizes(r, &p)
	}
	c.SMs = sms[r.IntN(len(sms))]
	one := choiceCase{p: p, sms: c.SMs}
	if name, err := kernels.Choose(p, c); err == nil {
		config, err := kernels.Configure(name, p, c)
		if err != nil {
			panic(err)
		}
		f, _, err := kernels.Find(name)
		if err != nil {
			panic(err)
		}
		one.kernel = described(name, f.Describe(config), p, p.Hq != p.Hkv)
	}
	return one
}

// randomSizes sets sizes from the smallest to some beyond the limits of kernels.
func randomSizes(r *rand.Rand, p *problem.Attention) {
	size := func(most int) int { return int(math.Exp(r.Float64() * math.Log(float64(most)+0.999))) }
	p.B, p.Hkv, p.Sq, p.Skv = size(16), size(48), size(8192), size(16384)
	p.Hq = p.Hkv
	switch r.IntN(8) {
	case 0, 1:
		p.Hq *= 1 + r.IntN(8)
	case 2:
		p.B, p.Sq, p.Skv = size(1<<18), size(1<<23), size(1<<24) // beyond some limits
	}
	if r.IntN(3) > 0 {
		p.Skv = p.Sq
	}
	if p.Causal && p.Sq > p.Skv {
		p.Sq, p.Skv = p.Skv, p.Sq
	}
}

// compare compares the choices of a program, indexes of kernels, with those of package kernels.
func (b *Bundle) compare(t *testing.T, program string, cases []choiceCase, got []int) {
	if len(got) != len(cases) {
		t.Fatalf("%s made %d choices of %d", program, len(got), len(cases))
	}
	seen, wrong := map[int]bool{}, 0
	for i, c := range cases {
		text := ""
		if got[i] >= 0 {
			k := &b.Kernels[got[i]]
			text = described(k.Name, k.Config["config"], c.p, slices.Contains(k.Supports, problem.GroupedHeads))
			seen[got[i]] = true
		}
		if text != c.kernel {
			if wrong++; wrong < 5 {
				t.Errorf("%s, %v on %d SMs: %q, want %q", program, c.p, c.sms, text, c.kernel)
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%s: %d of %d choices are wrong", program, wrong, len(cases))
	}
	t.Logf("%s: %d problems chose %d of %d kernels", program, len(cases), len(seen), len(b.Kernels))
}

// pythonChoices lets the loader in Python choose.
func pythonChoices(t *testing.T, b *Bundle, cases []choiceCase) (got []int) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	file, err := Render(b)
	if err != nil {
		t.Fatal(err)
	}
	core, _, ok := strings.Cut(string(file), "\nimport torch\n")
	if !ok {
		t.Fatal("the file does not import torch")
	}
	var in []map[string]any
	for _, c := range cases {
		in = append(in, map[string]any{"sms": c.sms, "problem": arguments(c.p)})
	}
	stdin, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "core.py")
	if err := os.WriteFile(path, []byte(core+`
for c in json.load(sys.stdin):
    problem = Problem(**c["problem"])
    try:
        print(choose(problem, dict(problem.env, SMs=c["sms"])))
    except AttestError:
        print(-1)
`), 0o644); err != nil {
		t.Fatal(err)
	}
	return numbers(t, exec.Command(python, path), string(stdin))
}

// cMain prints the choice for each problem twice: the second one is remembered.
const cMain = `#include "attention.h"
int main(void)
{
	attest_attention a;
	attest_problem p = {.output = "f16"};
	long long n[6], sms;
	attest_open(&a, 0);
	while (scanf("%lld %lld %lld %lld %lld %lld %d %lld", &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &p.causal, &sms) == 8) {
		p.B = n[0], p.H = n[1], p.Hkv = n[2], p.Sq = n[3], p.Skv = n[4], p.D = n[5];
		if (a.sms != sms)
			a.chosen = 0; /* another device */
		a.sms = (int)sms;
		const int chosen = attest_choose(&a, &p);
		printf("%d\n", attest_choose(&a, &p) == chosen ? chosen : -2);
	}
	return 0;
}
`

// cChoices lets the header choose.
func cChoices(t *testing.T, b *Bundle, cases []choiceCase) []int {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("there is no C compiler")
	}
	c := *b
	c.Kind = "c"
	file, err := Render(&c)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "main")
	for name, text := range map[string]string{"attention.h": string(file), "main.c": cMain} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command(cc, "-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-Itestdata", "-o", program, filepath.Join(dir, "main.c"), "-lm").CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	var stdin strings.Builder
	for _, c := range cases {
		causal := 0
		if c.p.Causal {
			causal = 1
		}
		fmt.Fprintln(&stdin, c.p.B, c.p.Hq, c.p.Hkv, c.p.Sq, c.p.Skv, c.p.D, causal, c.sms)
	}
	return numbers(t, exec.Command(program), stdin.String())
}

// numbers runs a command and returns the numbers that it prints.
func numbers(t *testing.T, cmd *exec.Cmd, stdin string) (list []int) {
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	for _, line := range strings.Fields(string(out)) {
		var n int
		if _, err := fmt.Sscan(line, &n); err != nil {
			t.Fatal(err)
		}
		list = append(list, n)
	}
	return list
}
