package targets

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/jsonpos"
	"github.com/GOATnote-Inc/attest/kernels"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// FileName is the name of the file in a folder of evidence.
const FileName = "targets.json"

// File is the content of a file of targets.
type File struct {
	Targets    []Target
	Milestones []Milestone
	Ideas      []Idea
}

// Target is a value that a metric should reach.
type Target struct {
	Name   string
	Metric Metric
	Chip   string
	Kernel string        // "" is the fastest kernel of the shape
	Format string        // "" is any
	Shape  problem.Named // zero for metrics without a shape
	Causal bool
	Rival  string // a part of the rival's name, or ""
	// Value is the number to reach. Outcome stands in its place for the metric verdict.
	Value   float64
	Outcome record.Outcome
	By      time.Time // the first moment after the last day; zero is never
}

// Milestone is a set of targets.
type Milestone struct {
	Name    string
	Targets []string // names
	By      time.Time
}

// Idea is something to try.
type Idea struct {
	Name     string
	Kernel   string // the kernel that would measure it, or ""
	Chip     string
	Expected *record.Expected // nil without a prediction
	Why      string
}

// Known are names that records have. A file may use them besides the chips and the kernels of
// attest.
type Known struct{ Devices, Kernels []string }

// Parse reads a file of targets. name stands for the file in errors.
func Parse(name string, text []byte, known Known) (*File, error) {
	root, err := jsonpos.Parse(name, text)
	if err != nil {
		return nil, err
	}
	p := &parser{known: known}
	if at := root.Field("chip"); at != nil { // before the targets, which may rely on it
		if err := p.readChip(&p.chip)(at); err != nil {
			return nil, err
		}
	}
	err = root.Object("a file of targets", jsonpos.Fields{
		"chip":       p.readChip(&p.chip),
		"targets":    jsonpos.List("targets", p.readTarget),
		"milestones": jsonpos.List("milestones", p.readMilestone),
		"ideas":      jsonpos.List("ideas", p.readIdea),
	}, "targets")
	if err != nil {
		return nil, err
	}
	return &p.file, p.checkMilestones()
}

type parser struct {
	file       File
	chip       string
	known      Known
	milestones []*jsonpos.Node // the lists of targets of the milestones
}

func (p *parser) readTarget(at *jsonpos.Node) error {
	at.Label("target %d", len(p.file.Targets)+1)
	t := Target{Chip: p.chip}
	if err := at.Object("a target", jsonpos.Fields{
		"name": jsonpos.Text(&t.Name), "metric": readMetric(&t.Metric), "chip": p.readChip(&t.Chip), "kernel": p.readKernel(&t.Kernel),
		"format": jsonpos.Text(&t.Format), "shape": readShape(&t.Shape), "causal": jsonpos.Bool(&t.Causal), "rival": jsonpos.Text(&t.Rival),
		"target": func(*jsonpos.Node) error { return nil }, // read below, when the metric is known
		"by":     readDay(&t.By),
	}, "name", "metric", "target"); err != nil {
		return err
	}
	switch m := t.Metric; {
	case t.Name == "":
		return at.Field("name").Expected("a name")
	case slices.ContainsFunc(p.file.Targets, func(o Target) bool { return o.Name == t.Name }):
		return at.Field("name").Errorf("there are two targets %q", t.Name)
	case t.Chip == "":
		return at.Errorf("a target belongs to a chip: give it a field \"chip\", or the whole file")
	case m.Shape && t.Shape == (problem.Named{}):
		return at.Errorf("the metric %s needs a field \"shape\"", m.Name)
	case m.Kernel && t.Kernel == "":
		return at.Errorf("the metric %s needs a field \"kernel\"", m.Name)
	case t.Rival != "" && m.Name != RivalSpeedup:
		return at.Field("rival").Errorf("only the metric %s has a rival", RivalSpeedup)
	}
	p.file.Targets = append(p.file.Targets, t)
	return p.file.Targets[len(p.file.Targets)-1].readValue(at.Field("target"))
}

func (t *Target) readValue(at *jsonpos.Node) (err error) {
	if t.Metric.Name == Verdict {
		return jsonpos.Word(&t.Outcome, record.Outcomes()...)(at)
	}
	t.Value, err = at.Float(0, math.MaxFloat64)
	return err
}

func (p *parser) readMilestone(at *jsonpos.Node) error {
	at.Label("milestone %d", len(p.file.Milestones)+1)
	var m Milestone
	err := at.Object("a milestone", jsonpos.Fields{
		"name": jsonpos.Text(&m.Name), "by": readDay(&m.By),
		"targets": jsonpos.List("names of targets", func(n *jsonpos.Node) error {
			s, err := n.Text()
			m.Targets = append(m.Targets, s)
			return err
		}),
	}, "name", "targets")
	if err != nil {
		return err
	}
	if len(m.Targets) == 0 {
		return at.Field("targets").Errorf("a milestone has at least one target")
	}
	p.file.Milestones, p.milestones = append(p.file.Milestones, m), append(p.milestones, at.Field("targets"))
	return nil
}

// checkMilestones refuses names of targets that do not exist.
func (p *parser) checkMilestones() error {
	var names []string
	for _, t := range p.file.Targets {
		names = append(names, t.Name)
	}
	for _, list := range p.milestones {
		for _, n := range list.Items() {
			if s, _ := n.Text(); !slices.Contains(names, s) {
				return n.Errorf("there is no target %q: the targets are %s", s, strings.Join(names, ", "))
			}
		}
	}
	return nil
}

func (p *parser) readIdea(at *jsonpos.Node) error {
	at.Label("idea %d", len(p.file.Ideas)+1)
	i := Idea{Chip: p.chip}
	err := at.Object("an idea", jsonpos.Fields{
		"idea": jsonpos.Text(&i.Name), "kernel": p.readKernel(&i.Kernel), "chip": p.readChip(&i.Chip), "why": jsonpos.Text(&i.Why),
		"expect": func(n *jsonpos.Node) error {
			text, err := n.Text()
			if err != nil {
				return err
			}
			if i.Expected, err = record.ParseExpected(text); err != nil {
				return n.Errorf("%v", err)
			}
			return nil
		},
	}, "idea")
	p.file.Ideas = append(p.file.Ideas, i)
	return err
}

// readChip reads the name of a chip that attest knows, or of a GPU that has records. A
// misspelt chip would never be measured.
func (p *parser) readChip(to *string) func(*jsonpos.Node) error {
	return func(n *jsonpos.Node) error {
		s, err := n.Text()
		if err != nil {
			return err
		}
		if _, err := chips.Find(s); err != nil && !slices.Contains(p.known.Devices, s) {
			return n.Errorf("%v, or the name of a GPU as the records have it", err)
		}
		*to = s
		return nil
	}
}

// readKernel reads the name of a kernel of attest, toggles included, or of one that has
// records.
func (p *parser) readKernel(to *string) func(*jsonpos.Node) error {
	return func(n *jsonpos.Node) error {
		s, err := n.Text()
		if err != nil {
			return err
		}
		if _, _, err := kernels.Find(s); err != nil && !slices.Contains(p.known.Kernels, s) {
			return n.Errorf("%v", err)
		}
		*to = s
		return nil
	}
}

func readMetric(to *Metric) func(*jsonpos.Node) error {
	return func(n *jsonpos.Node) error {
		s, err := n.Text()
		if err != nil {
			return err
		}
		m, ok := Find(s)
		if !ok {
			return n.Errorf("there is no metric %q: the metrics are %s", s, metricNames())
		}
		*to = m
		return nil
	}
}

func readShape(to *problem.Named) func(*jsonpos.Node) error {
	return func(n *jsonpos.Node) error {
		s, err := n.Text()
		if err != nil {
			return err
		}
		if to.Shape, err = problem.ParseShape(s); err != nil {
			return n.Errorf("%v", err)
		}
		for _, named := range problem.Shapes() {
			if named.Shape == to.Shape {
				to.Name = named.Name
			}
		}
		return nil
	}
}

// readDay reads the last day of a deadline, as in 2026-12-31. The deadline is the end of that day.
func readDay(to *time.Time) func(*jsonpos.Node) error {
	return func(n *jsonpos.Node) error {
		s, err := n.Text()
		if err != nil {
			return err
		}
		day, err := time.Parse(time.DateOnly, s)
		if err != nil {
			return n.Expected("a day such as 2026-12-31")
		}
		*to = day.AddDate(0, 0, 1)
		return nil
	}
}
