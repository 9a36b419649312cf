package frozen

import (
	"fmt"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/tune"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/kernels/attn/ada"
	"github.com/GOATnote-Inc/attest/kernels/attn/decode"
	"github.com/GOATnote-Inc/attest/kernels/attn/hopper"
	"github.com/GOATnote-Inc/attest/kernels/attn/stages"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// sms is the number of SMs for which launches are computed. An H200 has 132.
const sms = 132

// sizes are the problems whose launches are in the golden file, as (B,Hq,Hkv,Sq,Skv).
var sizes = [][5]int{{1, 1, 1, 1, 1}, {1, 8, 8, 512, 512}, {2, 8, 2, 777, 1300}, {4, 32, 4, 4096, 4096}, {3, 5, 5, 100, 100}}

// chip is the chip for which launches are computed.
var chip = kernel.Chip{SMs: sms}

func stageVariants() (list []variant) {
	for _, d := range []int{64, 128} {
		for _, f := range []problem.Format{problem.E4M3, problem.E5M2, problem.U8, problem.U8Legacy} {
			for _, o := range outputs {
				for _, lse := range []bool{false, true} {
					p := problem.Attention{Shape: problem.Square(1, 1, 1, d), Format: f, Output: o, LSE: lse}
					list = append(list, named(stages.Family{}, p)...)
				}
			}
		}
		p := problem.Attention{Shape: problem.Square(1, 1, 1, d)}.Filled()
		list = append(list, neighbours(stages.Family{}, p)...)
	}
	return list
}

var outputs = []problem.Format{problem.F16, problem.BF16}

func hopperVariants() (list []variant) {
	for _, d := range []int{64, 128} {
		for _, f := range []problem.Format{problem.E4M3, problem.E5M2} {
			for _, o := range outputs {
				for i := range 8 {
					p := problem.Attention{Shape: problem.Square(1, 8, 512, d), Format: f, Output: o, LSE: i&1 != 0, Causal: i&2 != 0}
					if i&4 != 0 {
						p.Hkv = 2
					}
					list = append(list, named(hopper.Family{}, p)...)
				}
			}
		}
		for _, causal := range []bool{false, true} {
			p := problem.Attention{Shape: problem.Square(1, 8, 512, d), Causal: causal}.Filled()
			list = append(list, neighbours(hopper.Family{}, p)...)
		}
	}
	return append(list, chosen()...)
}

// adaVariants returns the designs for Ada, with products in FP8 and in f16.
func adaVariants() (list []variant) {
	for _, d := range []int{64, 96, 128, 256} {
		for _, f := range []problem.Format{problem.E4M3, problem.E5M2} {
			for i := range 8 {
				p := problem.Attention{Shape: problem.Square(1, 8, 512, d), Format: f, Output: outputs[i/2%2], LSE: i&1 != 0, Causal: i&2 != 0}
				if i&4 != 0 {
					p.Hkv = 2
				}
				list = append(list, named(ada.Family{}, p)...)
			}
		}
		p := problem.Attention{Shape: problem.Square(1, 8, 512, d)}.Filled()
		list = append(list, neighbours(ada.Family{}, p)...)
	}
	return list
}

// decodeVariants returns the kernels for few queries: all forms, and the features of serving.
func decodeVariants() (list []variant) {
	for _, d := range []int{64, 128, 256} {
		for i := range 8 {
			p := problem.Attention{
				Shape: problem.Shape{B: 1, Hq: 8, Hkv: 2, Sq: 1 + 7*(i%2), Skv: 4096, D: d}, LSE: i&2 != 0, Causal: i&4 != 0,
				Format: []problem.Format{problem.E4M3, problem.E5M2}[i%2], Output: outputs[i/2%2],
			}
			list = append(list, named(decode.Family{}, p)...)
		}
		p := problem.Attention{Shape: problem.Shape{B: 1, Hq: 8, Hkv: 2, Sq: 1, Skv: 4096, D: d}}.Filled()
		list = append(list, neighbours(decode.Family{}, p)...)
	}
	for _, keys := range []problem.Placement{problem.Padded, problem.Packed, problem.Paged} {
		for _, layout := range []problem.Layout{problem.BHSD, problem.BSHD} {
			p := problem.Attention{
				Shape: problem.Shape{B: 1, Hq: 8, Hkv: 2, Sq: 2, Skv: 4096, D: 128}, Keys: keys, Layout: layout,
				Window: problem.NewWindow(100, 0), Softcap: 20, Sinks: true, Scaling: problem.PerTensor,
			}
			if keys == problem.Packed {
				p.Queries = problem.Packed
			}
			for _, v := range named(decode.Family{}, p) {
				v.key += fmt.Sprintf(" %s %s", keys, layout)
				list = append(list, v)
			}
		}
	}
	for i, s := range []problem.Scaling{problem.PerBatch, problem.PerToken, problem.PerBlock, problem.PerPage, problem.NoScale, problem.PerHead} {
		p := problem.Attention{
			Shape: problem.Shape{B: 1, Hq: 8, Hkv: 2, Sq: 2, Skv: 4096, D: 128}, Scaling: s, FormatQ: []problem.Format{"", problem.F16, problem.BF16}[i%3],
		}
		switch s {
		case problem.PerBlock:
			p.ScaleBlockQ, p.ScaleBlockKV = 2, 64
		case problem.PerPage:
			p.Keys = problem.Paged
		}
		p.Masked = i%2 == 0
		for _, v := range named(decode.Family{}, p) {
			v.key += fmt.Sprintf(" %s %s", s, p.QueryFormat())
			list = append(list, v)
		}
	}
	return list
}

// named returns the variants of a family that have a name.
func named(f attn.Family, p problem.Attention) (list []variant) {
	p = p.Filled()
	for _, v := range f.Variants() {
		config, err := f.Configure(v.Name, p, chip)
		if err != nil {
			panic(err)
		}
		list = append(list, frozen(f, v.Name, p, config))
	}
	return list
}

// neighbours returns the configurations that tuning could try next to each variant.
func neighbours(f attn.Family, p problem.Attention) (list []variant) {
	seen := map[attn.Config]bool{}
	for _, v := range f.Variants() {
		config, err := f.Configure(v.Name, p, chip)
		if err != nil {
			panic(err)
		}
		for _, n := range (tune.Space{Family: f, Problem: p, Chip: chipOf(f)}).Neighbours(config) {
			if !seen[n] {
				seen[n] = true
				list = append(list, frozen(f, "neighbour "+f.Describe(n), p, n))
			}
		}
	}
	return list
}

// chosen returns the kernels that the hopper family chooses for problems of many sizes.
func chosen() (list []variant) {
	f := hopper.Family{}
	for _, d := range []int{64, 128} {
		for _, causal := range []bool{false, true} {
			for _, heads := range []int{1, 8, 24, 64, 256} {
				for _, s := range []int{1, 64, 129, 256, 512, 777, 1024, 2048, 3000, 4096, 16384} {
					p := problem.Attention{Shape: problem.Square(1, heads, s, d), Causal: causal}.Filled()
					config, err := f.Configure("hopper", p, chip)
					if err != nil {
						panic(err)
					}
					list = append(list, frozen(f, fmt.Sprintf("chosen for %v", p.Shape), p, config))
				}
			}
		}
	}
	return list
}

// chipOf returns an H200 with the target for which this test builds a family's kernels.
func chipOf(f attn.Family) kernel.Chip {
	c := chip
	if f.Name() == "stages" {
		c.Target = ptx.SM90
	}
	return c
}

// frozen returns the variant of one kernel: its text and its launches for problems of several
// sizes.
func frozen(f attn.Family, name string, p problem.Attention, config attn.Config) variant {
	return variant{
		key: fmt.Sprintf("%s %s D %d %s %s%s%s%s", f.Name(), name, p.D, p.Format, p.Output,
			word(p.LSE, "lse"), word(p.Causal, "causal"), word(p.Hkv != p.Hq, "grouped")),
		write: func() (text, launch string, err error) {
			k, err := f.Build(p, chipOf(f), config)
			if err != nil {
				return "", "", err
			}
			var all []string
			for _, s := range sizes {
				q := p
				q.B, q.Hq, q.Hkv, q.Sq, q.Skv = s[0], s[1], s[2], s[3], s[4]
				if f.Name() == "stages" && (q.Hq != q.Hkv || q.Sq != q.Skv) {
					continue
				}
				plan, err := k.Bind(q, chip, kernel.Options{Resident: func(kernel.Step) int { return 2 }})
				if err != nil {
					return "", "", err
				}
				all = append(all, shown(f, plan.Steps[0]))
			}
			return k.PTX, strings.Join(all, " "), nil
		},
	}
}

// shown returns a launch as text: grid, block, cluster and bytes of shared memory.
func shown(f attn.Family, s kernel.Step) string {
	if f.Name() == "stages" {
		return fmt.Sprintf("{%d %d %d}", s.Grid[0], s.Block[0], s.Shared)
	}
	return fmt.Sprintf("{%d %d %d %d %d}", s.Grid[0], s.Grid[1], s.Block[0], max(s.Cluster[0], 1), s.Shared)
}

func word(is bool, w string) string {
	if is {
		return " " + w
	}
	return ""
}
