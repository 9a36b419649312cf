package kernels

import (
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestBase: every kernel but the first has a kernel to beat, which is a stage that comes
// before it or, for decode, hopper. For all designs for Hopper it is the last stage.
func TestBase(t *testing.T) {
	names := Names()
	for i, name := range names {
		base := Base(name)
		if (base == "") != (i == 0) || slices.Index(names, base) >= i {
			t.Errorf("%s builds on %q", name, base)
		}
		if strings.HasPrefix(name, "hopper") && base != "stage5-persistent" {
			t.Errorf("%s is judged against %s", name, base)
		}
		if i > 0 && !strings.HasPrefix(idea(name), base+" + ") {
			t.Errorf("%s: the idea is %q", name, idea(name))
		}
	}
	for name, want := range map[string]string{"stage3b": "stage2", "stage4": "stage3b", "stage5": "stage3b", "nothing": ""} {
		if got := Base(name); got != want {
			t.Errorf("%s builds on %q, want %q", name, got, want)
		}
	}
	if rungs := Ladder(); !slices.Equal(rungs[len(rungs)-2:], []string{"hopper", "decode"}) || !slices.Contains(names, rungs[0]) {
		t.Errorf("the ladder is %v", rungs)
	}
}

// TestLimits gives every kernel sizes at a limit and beyond it. Check and the kernel's own
// contract must answer alike, in the same words.
func TestLimits(t *testing.T) {
	chip := kernel.Chip{Target: ptx.SM90a, SMs: 132}
	small := problem.Attention{Shape: problem.Square(1, 1, 64, 64)}.Filled()
	refused := 0
	for _, causal := range []bool{false, true} {
		for _, name := range Names() {
			small.Causal = causal
			if Check(name, small, chip) != nil {
				continue // the stages have no causal mask
			}
			f, _, err := Find(name)
			if err != nil {
				t.Fatal(err)
			}
			config, err := f.Configure(name, small, chip)
			if err != nil {
				t.Fatal(err)
			}
			k, err := BuildConfig(f, name, small, chip, config)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range [][3]int{
				{1, 1, 64}, {1, 1, 2048}, {1, 1, 2049}, {1, 65535, 1}, {1, 65536, 1}, {2, 40000, 1}, {1, 1, 65535 * 64}, {1, 1, 65535*64 + 1},
				{1, 1, 1 << 23}, {1, 1, 1<<23 + 1}, {1, 1, 1<<24 + 1}, {1 << 14, 1 << 14, 1}, {1 << 14, 1<<14 + 1, 1}, {1 << 15, 1<<15 + 1, 1},
			} {
				p := small
				p.Shape = problem.Square(s[0], s[1], s[2], 64)
				checks, serves := f.Check(p, chip, config), k.Serves(p, chip)
				if (checks == nil) != (serves == nil) || checks != nil && checks.Error() != serves.Error() {
					t.Errorf("%s, %v: Check says %v, the contract %v", name, p, checks, serves)
				}
				if checks != nil {
					refused++
				}
			}
		}
	}
	if refused == 0 {
		t.Error("no size was refused")
	}
}

func idea(name string) string {
	_, v, _ := Find(name)
	return v.Idea
}

// TestToggles changes configurations by name.
func TestToggles(t *testing.T) {
	p := problem.Attention{Shape: problem.Square(1, 8, 512, 64)}.Filled()
	for name, want := range map[string]string{
		"stage3a+swizzle":                    `"Swizzle":true`,
		"stage3b+fast-exp+tile-n=32":         `"TileN":32`,
		"stage3b+no-vector-dequant":          `"VectorDequant":false`,
		"stage3b+vector-dequant=off":         `"VectorDequant":false`,
		"stage1+lut=on":                      `"LUT":true`,
		"hopper-latency+no-persistent":       `"persistent":false`,
		"hopper-throughput+polynomial=4":     `"polynomial":4`,
		Toggled("stage1", "lut, no-swizzle"): `"LUT":true`,
		Toggled("stage1+lut", ""):            `"LUT":true`,
	} {
		config, err := Configure(name, p, kernel.Chip{})
		if err != nil || !strings.Contains(string(config), want) {
			t.Errorf("%s: %v, %v, want %s", name, config, err, want)
		}
		if err := Check(name, p, kernel.Chip{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	k, err := Build("stage3a+swizzle", p, kernel.Chip{})
	if err != nil || k.Name != "stage3a+swizzle" || !strings.Contains(k.Config["config"], "swizzle") {
		t.Errorf("%+v, %v", k, err)
	}
	if b := Base("stage3a+swizzle"); b != "stage3a" {
		t.Errorf("stage3a+swizzle builds on %q", b)
	}
}

// TestWrongToggles: a refusal says what to do.
func TestWrongToggles(t *testing.T) {
	p := problem.Attention{Shape: problem.Square(1, 8, 512, 64)}.Filled()
	for name, want := range map[string]string{
		"stage3a+warp-speed":       `no toggle "warp-speed"`,
		"stage3a+":                 `no toggle ""`,
		"stage3a+tile-n":           "needs a number: tile-n=128",
		"stage3a+no-tile-n":        "needs a number",
		"stage3a+tile-n=many":      "needs a number",
		"stage3a+tile-n=33":        "KV tiles of 33",
		"stage3a+swizzle=maybe":    "use on or off",
		"stage3a+swizzle+swizzle":  "set twice",
		"stage3b+reuse-scores":     "score reuse with fused softmax",
		"stage9+swizzle":           `no kernel is called "stage9"`,
		"hopper+swizzle":           "the kernels of the family hopper have",
		"stage0+tile-n=9999999999": "KV tiles of 9999999999",
	} {
		if err := Check(name, p, kernel.Chip{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}
