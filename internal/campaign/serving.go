package campaign

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
)

// Serving describes attention as servers use it. Its fields are the values of the flags with these
// names. Zero values are the defaults: full sequences, no mask, one scale per head.
type Serving struct {
	Window             string // "left,right"
	Softcap            float64
	SoftmaxScale       float64
	Sinks              bool
	Mask               string // bytes or bits
	Strided            bool
	Queries, Keys      string // placements
	PageSize           int
	SeqlensQ, SeqlensK string // lengths with commas
	Layout             string
	FormatQ            string
	Scaling            string
	ScaleBlock         string // rows of Q and of K and V that share a scale: "128,64"
}

// The values of flags.
var (
	QueryPlacements = []string{string(problem.Padded), string(problem.Packed)}
	KeyPlacements   = []string{string(problem.Padded), string(problem.Packed), string(problem.Paged)}
	Layouts         = []string{string(problem.BHSD), string(problem.BSHD)}
	Masks           = []string{"bytes", "bits"}
	QueryFormats    = []string{string(problem.F16), string(problem.BF16)}
	Scalings        = []string{
		string(problem.PerHead), string(problem.PerTensor), string(problem.PerBatch), string(problem.PerToken),
		string(problem.PerBlock), string(problem.PerPage), string(problem.NoScale),
	}
)

// check refuses values that are not known and flags that contradict each other.
func (s *Serving) check() error {
	for _, f := range []struct {
		flag, value string
		known       []string
	}{
		{"queries", s.Queries, QueryPlacements}, {"keys", s.Keys, KeyPlacements}, {"layout", s.Layout, Layouts},
		{"mask", s.Mask, Masks}, {"format-q", s.FormatQ, QueryFormats}, {"scaling", s.Scaling, Scalings},
	} {
		if f.value != "" && !slices.Contains(f.known, f.value) {
			return fmt.Errorf("--%s %s: use %s", f.flag, f.value, english.Or(f.known))
		}
	}
	switch {
	case s.PageSize < 0:
		return fmt.Errorf("--page-size %d: a page has at least one row", s.PageSize)
	case s.PageSize > 0 && s.Keys != "" && s.Keys != string(problem.Paged):
		return fmt.Errorf("--page-size %d with --keys %s: only paged keys lie in pages", s.PageSize, s.Keys)
	case !(s.Softcap >= 0) || math.IsInf(s.Softcap, 0):
		return fmt.Errorf("--softcap %v: use a number above 0, or 0 for none", s.Softcap)
	case !(s.SoftmaxScale >= 0) || math.IsInf(s.SoftmaxScale, 0):
		return fmt.Errorf("--softmax-scale %v: use a number above 0, or 0 for 1/√D", s.SoftmaxScale)
	case s.ScaleBlock != "" && s.Scaling != string(problem.PerBlock):
		return errors.New("--scale-block needs --scaling per-block")
	case s.ScaleBlock == "" && s.Scaling == string(problem.PerBlock):
		return errors.New("--scaling per-block: --scale-block says how many rows of Q and of K and V share a scale, as in 128,64")
	}
	if _, err := s.window(); err != nil {
		return fmt.Errorf("--window: %w", err)
	}
	if _, _, err := s.scaleBlock(); err != nil {
		return err
	}
	for flag, list := range map[string]string{"seqlens-q": s.SeqlensQ, "seqlens-k": s.SeqlensK} {
		for word := range strings.SplitSeq(list, ",") {
			if n, err := strconv.Atoi(word); list != "" && (err != nil || n < 0) {
				return fmt.Errorf("--%s %s: use one length per sequence, with commas, as in 17,0,300", flag, list)
			}
		}
	}
	return nil
}

// window returns the window. Without the flag it is a window that hides no key.
func (s *Serving) window() (w problem.Window, err error) {
	if s.Window != "" {
		err = w.UnmarshalText([]byte(s.Window))
	}
	if err == nil && s.Window != "" && !w.Limited() {
		err = fmt.Errorf("window %s hides no key: leave it out", s.Window)
	}
	return w, err
}

// scaleBlock returns the numbers of rows that share a scale.
func (s *Serving) scaleBlock() (q, kv int, err error) {
	if s.ScaleBlock == "" {
		return 0, 0, nil
	}
	var rest string
	if n, _ := fmt.Sscanf(s.ScaleBlock+" ", "%d,%d%s", &q, &kv, &rest); n != 2 || q < 1 || kv < 1 {
		return 0, 0, fmt.Errorf("--scale-block %s: use two numbers of rows, for Q and for K and V, as in 128,64", s.ScaleBlock)
	}
	return q, kv, nil
}

// add puts the flags into a problem, for which a kernel is then written. check has accepted them.
func (s *Serving) add(p *problem.Attention) {
	p.Window, _ = s.window()
	p.ScaleBlockQ, p.ScaleBlockKV, _ = s.scaleBlock()
	p.Softcap, p.Scale = rounded(s.Softcap), rounded(s.SoftmaxScale)
	p.Sinks, p.Masked, p.MaskBits = s.Sinks, s.Mask != "", s.Mask == "bits"
	p.Queries, p.Keys, p.PageSize = s.placed(s.Queries, s.SeqlensQ), s.placed(s.Keys, s.SeqlensK), s.PageSize
	if s.PageSize > 0 {
		p.Keys = problem.Paged
	}
	p.Layout, p.FormatQ, p.Scaling = problem.Layout(s.Layout), problem.Format(s.FormatQ), problem.Scaling(s.Scaling)
	if s.Strided {
		p.Gaps = p.UsualGaps()
	}
}

// rounded returns a number as a kernel gets it, in 32 bits. A number that would become 0 or infinite stays as it
// is, and the check of the problem refuses it.
func rounded(x float64) float64 {
	if y := float64(float32(x)); y != 0 && !math.IsInf(y, 0) {
		return y
	}
	return x
}

// placed returns the placement of sequences. Sequences that have lengths but no placement are padded.
func (*Serving) placed(placement, lengths string) problem.Placement {
	if placement == "" && lengths != "" {
		return problem.Padded
	}
	return problem.Placement(placement)
}

// arguments returns what a kernel is given when it runs.
func (s *Serving) arguments(shape problem.Shape) lab.Arguments {
	var p problem.Attention
	s.add(&p)
	a := lab.Arguments{Window: p.Window, Softcap: p.Softcap, Scale: p.Scale, PageSize: p.PageSize}
	if s.SeqlensQ != "" || s.SeqlensK != "" {
		a.Shape, a.LengthsQ, a.LengthsKV = shape, problem.Lengths(s.SeqlensQ), problem.Lengths(s.SeqlensK)
	}
	return a
}

// agrees returns an error if a flag contradicts the description of a kernel that is already written.
func (s *Serving) agrees(with problem.Attention) error {
	var p problem.Attention
	s.add(&p)
	with = with.Filled()
	for _, f := range []struct {
		flag, given, described string
	}{
		{"layout", string(p.Layout), string(with.Layout)}, {"format-q", string(p.FormatQ), string(with.QueryFormat())},
		{"scaling", string(p.Scaling), string(with.Scaling)}, {"queries", string(p.Queries), string(with.Queries)}, {"keys", string(p.Keys), string(with.Keys)},
		{"scale-block", s.ScaleBlock, fmt.Sprintf("%d,%d", with.ScaleBlockQ, with.ScaleBlockKV)},
	} {
		if f.given != "" && f.given != f.described {
			if f.described == "" {
				f.described = "uniform"
			}
			return fmt.Errorf("--%s %s, but the description of the kernel says %s", f.flag, f.given, f.described)
		}
	}
	switch {
	case s.Sinks && !with.Sinks:
		return errors.New("--sinks, but the description of the kernel has no sinks")
	case s.Mask != "" && !with.Masked:
		return errors.New("--mask, but the description of the kernel has no mask in memory")
	case s.Mask != "" && (s.Mask == "bits") != with.MaskBits:
		return fmt.Errorf("--mask %s, but the description of the kernel has a mask of other elements", s.Mask)
	case s.Strided && !with.Strided():
		return errors.New("--strided, but the description of the kernel has contiguous tensors")
	}
	return nil
}
