package hopper

import (
	"math"
	"slices"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ref"
)

// edges are lengths at the edges of tiles and next to them.
var edges = []int{1, 2, 63, 64, 65, 127, 128, 129, 191, 192, 193, 255, 256, 257, 383, 384, 385}

// edgeProblem returns a problem of a length. Its other features depend on turn: those of
// mixed, groups of eight heads, and K and V one longer or shorter than Q.
func edgeProblem(d, s, turn int) problem.Attention {
	p := mixed(d, s, s, turn)
	switch turn % 7 {
	case 3:
		p.Hq, p.Hkv = 8, 1
	case 5:
		p.Skv = s + 1
	case 6:
		p.Sq = max(s-1, 1)
	}
	return p
}

// designed returns the named designs, and what Choose returns for much larger problems, which
// lengths near the edges would not get, adapted to the problem.
func designed(p problem.Attention) (all []Config) {
	for _, d := range Designs()[1:] {
		if c := d.Config(p, 132); c.Check(p) == nil {
			all = append(all, c)
		}
	}
	for _, heads := range []int{1, 7, 9, 17, 24, 70} {
		large := p
		large.B, large.Hq, large.Hkv, large.Sq, large.Skv = 1, heads, heads, 1000, 1000
		if c := Choose(large, 132).adapted(p); !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	return all
}

// TestEdges runs every design on lengths at the edges of tiles, in several orders of warps.
// With -full it also runs every length up to 130, under every checker.
func TestEdges(t *testing.T) {
	lengths := edges
	if *full {
		for s := range 130 {
			lengths = append(lengths, s+1)
		}
	}
	turn, ran := 0, 0
	for _, d := range testedDims() {
		for i, s := range lengths {
			for j, c := range designed(square(1, 2, s, d, problem.E4M3)) {
				turn++
				if !*full && (5*i+j+d/64)%19 != 0 {
					continue
				}
				p := edgeProblem(d, s, turn)
				c = c.adapted(p)
				ran++
				var checker *check.Checker
				var watch observe.Observer
				if *full {
					checker = check.New()
					watch = checker
				}
				in := generate(t, "normal", p, uint64(turn))
				b := newBench(t, emulator(t, uint64(turn%4), watch), in)
				b.SMs = 3
				judge(t, in, b.run(c))
				if checker == nil {
					continue
				}
				for _, defect := range checker.Findings() {
					t.Errorf("%v, %v, schedule %d: %v", c, p, turn%4, defect)
				}
			}
		}
	}
	t.Logf("%d runs", ran)
}

// TestEveryDistribution runs each design on difficult inputs. A weight is wrong by at most a
// sixteenth. A logit is wrong by at most a thousandth, because sums of FP8 products keep 14
// bits.
func TestEveryDistribution(t *testing.T) {
	for i, dist := range ref.Distributions() {
		for _, d := range testedDims() {
			turn := i
			for j, c := range designed(square(1, 2, 150, d, problem.E4M3)) {
				turn++
				if !*full && (i+j)%19 != d/128 {
					continue
				}
				p := edgeProblem(d, 150, turn)
				p.B = 1
				c = c.adapted(p)
				in := generate(t, dist.Name, p, 3)
				r := newBench(t, emulator(t, uint64(turn%4), nil), in).run(c)
				want := holdsWeights(t, dist.Name, c, in, r)
				if r.LSE == nil {
					continue
				}
				largest := 0.0
				for _, x := range want.LSE {
					if !math.IsInf(x, 0) {
						largest = max(largest, math.Abs(x))
					}
				}
				// A score's accumulator cuts each of 33 terms off at 2^-13 of the largest, D/32
				// times. For terms of either sign that is off by √(11·D/32)·2^-13 of it, one σ:
				// 1/1750 at D = 64, 1/1235 at D = 128.
				if e, err := want.CompareLSE(r.LSE, ref.CompareOptions{Tol: 2e-3 + largest/1024}); err != nil || e.Bad > 0 {
					t.Errorf("%s, %v, %v: lse %v, %v", dist.Name, c, p, e, err)
				}
			}
		}
	}
}

// TestFarApart has logits that rise and fall by hundreds from tile to tile. The reference of
// the sums changes, and no sum may overflow or vanish. The size of the logits alone must not
// matter.
func TestFarApart(t *testing.T) {
	const n = 500
	for name, logit := range map[string]func(key float64) float64{
		"rising":  func(key float64) float64 { return 960*key/n - 480 },
		"falling": func(key float64) float64 { return 480 - 960*key/n },
		"valley":  func(key float64) float64 { return 960*math.Abs(2*key/n-1) - 480 },
		"waves":   func(key float64) float64 { return key / n * 480 * math.Cos(key/64*math.Pi) },
		"low":     func(key float64) float64 { return -480 + math.Mod(key, 7) },
	} {
		for _, d := range testedDims() {
			for i, c := range designed(square(1, 1, n, d, problem.E4M3)) {
				if !*full && i%5 != len(name)%5 {
					continue
				}
				p := edgeProblem(d, n, i)
				p.B = 1
				c = c.adapted(p)
				in := generate(t, "normal", p, 1)
				codec, _ := p.Format.FP8()
				for k := range p.Skv * p.Hkv {
					x := logit(float64(k%p.Skv)) / math.Sqrt(float64(d)) // of a query of ones
					for e := range d {
						in.K.Data[k*d+e] = codec.EncodeSatfinite(x)
					}
				}
				for e := range in.Q.Data {
					in.Q.Data[e] = codec.EncodeSatfinite(1)
				}
				for _, x := range []*fp8.Tensor{in.Q, in.K} {
					for h := range x.Scales {
						x.Scales[h] = 1
					}
				}
				holdsWeights(t, name, c, in, newBench(t, emulator(t, 0, nil), in).run(c))
			}
		}
	}
}
