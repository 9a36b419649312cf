package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/atomicfile"
	"github.com/GOATnote-Inc/attest/internal/report"
	"github.com/GOATnote-Inc/attest/internal/targets"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// Pages are the files that a report is written to; an empty field writes none.
type Pages struct {
	Out      string // an HTML page
	Markdown string // a folder of Markdown
	Readme   string // a file whose table of results is replaced
	SVG      string // a picture of our times beside those of the rivals
	Sweep    string // a heat map of the speedups of all shapes
	// Targets is the file of targets; "" is the one beside the evidence, if there is one.
	Targets string
	Status  bool // print the status page instead of the tables
}

// Report prints the evidence as tables and writes the pages.
func (a *Archive) Report(p Pages) error {
	s, err := a.open()
	if err != nil {
		return err
	}
	progress := a.Env.StartProgress()
	defer progress.Stop()
	progress.Say("reading %s", a.Dir)
	v := report.New(s.Load())
	if err := a.setTargets(v, p.Targets); err != nil {
		return err
	}
	progress.Say("writing the report")
	var written []string
	for _, write := range []func(*report.View) ([]string, error){p.writeHTML, p.writeMarkdown, p.writeReadme, p.writeSVG, p.writeSweep} {
		paths, err := write(v)
		written = append(written, paths...)
		if err != nil {
			return err
		}
	}
	progress.Print(func() {
		switch {
		case a.Env.JSON && p.Status:
			a.Env.Encode(v.Status())
			return
		case a.Env.JSON:
			a.Env.Encode(newSummary(v, written))
			return
		case p.Status:
			fmt.Fprint(a.Env, v.StatusPage())
		default:
			v.WriteText(a.Env, a.Env.OutStyle())
		}
		for _, path := range written {
			fmt.Fprintf(a.Env, "wrote %s\n", term.Clean(path))
		}
	})
	return a.damaged(v.Check.Problems)
}

// setTargets reads the file of targets: the named one, or the one beside the evidence.
func (a *Archive) setTargets(v *report.View, name string) error {
	path := name
	if name == "" {
		path = filepath.Join(a.Dir, targets.FileName)
	}
	text, err := os.ReadFile(path)
	switch {
	case name == "" && errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("--targets: %w", err)
	}
	f, err := targets.Parse(path, text, v.Known())
	if err != nil {
		return fmt.Errorf("--targets: %w", err)
	}
	v.SetTargets(f, time.Now())
	return nil
}

func (p *Pages) writeHTML(v *report.View) ([]string, error) {
	if p.Out == "" {
		return nil, nil
	}
	var page bytes.Buffer
	if err := v.WriteHTML(&page); err != nil {
		return nil, err
	}
	return []string{p.Out}, atomicfile.Write(p.Out, page.Bytes())
}

func (p *Pages) writeMarkdown(v *report.View) (paths []string, err error) {
	if p.Markdown == "" {
		return nil, nil
	}
	names, err := v.WriteMarkdown(p.Markdown)
	for _, name := range names {
		paths = append(paths, filepath.Join(p.Markdown, name))
	}
	return paths, err
}

func (p *Pages) writeReadme(v *report.View) ([]string, error) {
	if p.Readme == "" {
		return nil, nil
	}
	old, err := os.ReadFile(p.Readme)
	if err != nil {
		return nil, err
	}
	now, err := report.ReplaceResults(string(old), v.Results())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Readme, err)
	}
	if now == string(old) {
		return nil, nil
	}
	return []string{p.Readme}, atomicfile.Write(p.Readme, []byte(now))
}

func (p *Pages) writeSVG(v *report.View) ([]string, error) {
	return picture("--svg", p.SVG, v.WriteSVG)
}

func (p *Pages) writeSweep(v *report.View) ([]string, error) {
	return picture("--sweep", p.Sweep, v.WriteSweep)
}

// picture writes a picture to the file that a flag names, if it names one.
func picture(flag, path string, draw func(io.Writer) error) ([]string, error) {
	if path == "" {
		return nil, nil
	}
	var b bytes.Buffer
	if err := draw(&b); err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	return []string{path}, atomicfile.Write(path, b.Bytes())
}

// Summary is the JSON of attest report.
type Summary struct {
	Kernels    []KernelSummary  `json:"kernels"`
	Shapes     []ShapeSummary   `json:"shapes"`
	Targets    []report.Goal    `json:"targets"`
	Milestones []report.Reached `json:"milestones"`
	Ladder     []report.Climb   `json:"ladder"`
	Check      *evidence.Check  `json:"check"`
	Written    []string         `json:"written"`
}

// KernelSummary is one kernel in the JSON of attest report.
type KernelSummary struct {
	Kernel  string         `json:"kernel"` // its short name
	Config  string         `json:"config"` // its configuration, where the name does not imply it
	Outcome record.Outcome `json:"outcome"`
	Why     string         `json:"why"`
	Record  string         `json:"record"`
	PTX     string         `json:"ptx"`
	Timed   string         `json:"timed"` // the hash of the record with its times, or ""
}

// ShapeSummary is the fastest kernel of a shape that was not rejected.
type ShapeSummary struct {
	Device string        `json:"device"`
	Shape  problem.Shape `json:"shape"`
	Best   string        `json:"best"`
	P50    float64       `json:"p50"` // µs
	TFLOPs float64       `json:"tflops"`
	Record string        `json:"record"`
}

func newSummary(v *report.View, written []string) *Summary {
	out := &Summary{Kernels: []KernelSummary{}, Shapes: []ShapeSummary{}, Check: v.Check, Written: append([]string{}, written...)}
	out.Targets, out.Milestones, out.Ladder = append([]report.Goal{}, v.Goals()...), append([]report.Reached{}, v.Reached()...), append([]report.Climb{}, v.Climbs()...)
	for _, k := range v.Kernels {
		s := KernelSummary{Kernel: k.Label, Config: k.Config, Outcome: k.Outcome(), Record: k.Now.Hash, PTX: k.Now.Kernel.SHA256}
		if j := k.Now.Verdict(); j != nil {
			s.Why = j.Why
		}
		if k.Timed != nil {
			s.Timed = k.Timed.Hash
		}
		out.Kernels = append(out.Kernels, s)
	}
	for _, sh := range v.Shapes {
		if best := sh.Best(); best != nil {
			m := best.Main()
			out.Shapes = append(out.Shapes, ShapeSummary{sh.Device, sh.Shape, best.Label, m.Summary.P50, m.TFLOPs, best.Item.Hash})
		}
	}
	return out
}
