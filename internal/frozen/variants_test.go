package frozen

import (
	"fmt"
	"strings"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/internal/tune"
	"github.com/GOATnote-Inc/attest/kernels/attn/hopper"
	"github.com/GOATnote-Inc/attest/kernels/attn/stages"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// sms is the number of SMs that launches are worked out for: an H200's.
const sms = 132

// sizes are problems whose launches are kept, (B,Hq,Hkv,Sq,Skv).
var sizes = [][5]int{{1, 1, 1, 1, 1}, {1, 8, 8, 512, 512}, {2, 8, 2, 777, 1300}, {4, 32, 4, 4096, 4096}, {3, 5, 5, 100, 100}}

func stageVariants() (list []variant) {
	for _, d := range []int{64, 128} {
		for _, f := range []fp8.Format{fp8.E4M3, fp8.E5M2, fp8.U8, fp8.U8Legacy} {
			for _, o := range []stages.Output{stages.F16, stages.BF16} {
				for _, lse := range []bool{false, true} {
					p := stages.Problem{Batch: 1, Heads: 1, Seq: 1, HeadDim: d, Format: f, Output: o, LSE: lse}
					for _, preset := range stages.Presets(d) {
						list = append(list, stageVariant(preset.Name, p, preset.Config))
					}
				}
			}
		}
		p := stages.Problem{Batch: 1, Heads: 1, Seq: 1, HeadDim: d, Format: fp8.E4M3}
		seen := map[stages.Config]bool{}
		for _, preset := range stages.Presets(d) {
			for _, n := range (tune.Stages{Problem: p, Target: ptx.SM90}).Neighbours(preset.Config) {
				if !seen[n] {
					seen[n] = true
					list = append(list, stageVariant("neighbour "+n.String(), p, n))
				}
			}
		}
	}
	return list
}

func stageVariant(name string, p stages.Problem, c stages.Config) variant {
	return variant{
		key: fmt.Sprintf("stages %s D %d %s %s%s", name, p.HeadDim, p.Format, p.Output, word(p.LSE, "lse")),
		write: func() (text, launch string, err error) {
			k, err := stages.Build(p, c, ptx.SM90)
			if err != nil {
				return "", "", err
			}
			var all []string
			for _, s := range sizes {
				if s[1] == s[2] && s[3] == s[4] {
					p.Batch, p.Heads, p.Seq = s[0], s[1], s[3]
					all = append(all, fmt.Sprint(c.Launch(p, sms, 2)))
				}
			}
			text, err = k.PTX()
			return text, strings.Join(all, " "), err
		},
	}
}

func hopperVariants() (list []variant) {
	for _, d := range []int{64, 128} {
		for _, f := range []fp8.Format{fp8.E4M3, fp8.E5M2} {
			for _, o := range []stages.Output{stages.F16, stages.BF16} {
				for i := range 8 {
					p := hopper.Square(1, 8, 512, d, f)
					p.Output, p.LSE, p.Causal = o, i&1 != 0, i&2 != 0
					if i&4 != 0 {
						p.HeadsKV = 2
					}
					for _, design := range hopper.Designs() {
						list = append(list, hopperVariant(design.Name, p, design.Config(p, sms)))
					}
				}
			}
		}
		for _, causal := range []bool{false, true} {
			p := hopper.Square(1, 8, 512, d, fp8.E4M3)
			p.Causal = causal
			list = append(list, neighbours(p)...)
		}
	}
	return append(list, chosen()...)
}

// neighbours are what tuning could step to from each design.
func neighbours(p hopper.Problem) (list []variant) {
	seen := map[hopper.Config]bool{}
	for _, design := range hopper.Designs() {
		for _, n := range (tune.Hopper{Problem: p}).Neighbours(design.Config(p, sms)) {
			if !seen[n] {
				seen[n] = true
				list = append(list, hopperVariant("neighbour "+n.String(), p, n))
			}
		}
	}
	return list
}

// chosen are the kernels that Choose takes for problems of many sizes.
func chosen() (list []variant) {
	for _, d := range []int{64, 128} {
		for _, causal := range []bool{false, true} {
			for _, heads := range []int{1, 8, 24, 64, 256} {
				for _, s := range []int{1, 64, 129, 256, 512, 777, 1024, 2048, 3000, 4096, 16384} {
					p := hopper.Square(1, heads, s, d, fp8.E4M3)
					p.Causal = causal
					name := fmt.Sprintf("chosen for %v", problem.Square(1, heads, s, d))
					list = append(list, hopperVariant(name, p, hopper.Choose(p, sms)))
				}
			}
		}
	}
	return list
}

func hopperVariant(name string, p hopper.Problem, c hopper.Config) variant {
	return variant{
		key: fmt.Sprintf("hopper %s D %d %s %s%s%s%s", name, p.HeadDim, p.Format, p.Output,
			word(p.LSE, "lse"), word(p.Causal, "causal"), word(p.HeadsKV != p.Heads, "grouped")),
		write: func() (text, launch string, err error) {
			k, err := hopper.Build(p, c)
			if err != nil {
				return "", "", err
			}
			var all []string
			for _, s := range sizes {
				q := p
				q.Batch, q.Heads, q.HeadsKV, q.SeqQ, q.SeqKV = s[0], s[1], s[2], s[3], s[4]
				all = append(all, fmt.Sprint(c.Launch(q, sms)))
			}
			text, err = k.PTX()
			return text, strings.Join(all, " "), err
		},
	}
}

func word(is bool, w string) string {
	if is {
		return " " + w
	}
	return ""
}
