package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/internal/targets"
	"github.com/GOATnote-Inc/attest/kernels"
	"github.com/GOATnote-Inc/attest/record"
)

// statusSection shows what did not work and why, and what to try next. What is done is in the
// other sections.
var statusSection = section{
	id: "status", title: "What did not work, and what is next",
	show: func(p *Page) bool { return !p.run },
	body: `{{with .All.Status}}{{range .Failed}}<div class="card"><p><b>{{.Kernel}}</b> <span class="mute">{{.Format}}, {{.Chip}}</span> {{template "cell" (outcome .Outcome)}} {{.Why}}</p>
{{- range .Notes}}<dl class="note">{{range .Parts}}<dt>{{index . 0}}</dt><dd>{{index . 1}}</dd>{{end}}</dl>{{else}}<p class="note">There is no note on record <code>{{short .Record}}</code>.</p>{{end}}
{{- with .OtherChips}}<p class="note">This verdict was {{.}}.</p>{{end}}</div>{{else}}<p class="note">Nothing was rejected, and there is no valid negative.</p>{{end}}{{end}}
<h3>Next, by predicted gain</h3>{{template "table" .All.NextTable}}`,
}

// Status is one page about a project: what is done, what did not work and why, and what is next.
type Status struct {
	Time   time.Time `json:"time"` // the time of the newest record
	Head   string    `json:"head"` // the head of the evidence
	Done   []Judged  `json:"done"`
	Failed []Judged  `json:"failed"` // valid negatives and rejections
	Next   []Next    `json:"next"`   // by predicted gain, the largest first

	Targets    []Goal    `json:"targets"`
	Milestones []Reached `json:"milestones"`
	Ladder     []Climb   `json:"ladder"`
}

// Judged is the newest verdict on a kernel on one chip.
type Judged struct {
	Kernel     string         `json:"kernel"`
	Format     string         `json:"format"`
	Chip       string         `json:"chip"`
	Outcome    record.Outcome `json:"outcome"`
	Why        string         `json:"why"`
	Record     string         `json:"record"`
	Notes      []record.Note  `json:"notes"`
	OtherChips string         `json:"other_chips"` // where the verdict may not hold, or ""
}

// Next is something that was not measured.
type Next struct {
	What     string           `json:"what"`
	Kernel   string           `json:"kernel"` // that measures it, or ""
	Chip     string           `json:"chip"`   // or ""
	Expected *record.Expected `json:"expected"`
	From     string           `json:"from"` // where it comes from
}

// Status returns the status of the project.
func (v *View) Status() *Status {
	s := &Status{
		Time: v.Latest(), Head: v.Check.Head, Done: []Judged{}, Failed: []Judged{}, Next: v.next(),
		Targets: append([]Goal{}, v.Goals()...), Milestones: append([]Reached{}, v.Reached()...), Ladder: append([]Climb{}, v.Climbs()...),
	}
	for _, k := range v.Kernels {
		for _, item := range k.judgedByChip() {
			switch j := v.judged(k, item); j.Outcome {
			case record.Merge, record.NoChange, record.Correct:
				s.Done = append(s.Done, j)
			case record.ValidNegative, record.Reject:
				s.Failed = append(s.Failed, j)
			}
		}
	}
	return s
}

// judgedByChip returns the newest judged record of the kernel on each device, in the order of the
// first records there. Records of the emulator count only for a kernel without records of a GPU.
func (k *Kernel) judgedByChip() (list []*evidence.Item) {
	gpu := slices.ContainsFunc(k.Items, func(i *evidence.Item) bool { return i.Verdict() != nil && !i.Build.Emulated() })
	for _, item := range k.Items {
		if item.Verdict() == nil || gpu && item.Build.Emulated() {
			continue
		}
		at := slices.IndexFunc(list, func(o *evidence.Item) bool { return o.Build.Device.Name == item.Build.Device.Name })
		if at < 0 {
			list = append(list, item)
		} else {
			list[at] = item
		}
	}
	return list
}

func (v *View) judged(k *Kernel, item *evidence.Item) Judged {
	verdict := item.Verdict()
	j := Judged{
		Kernel: k.Label, Format: item.Kernel.Format, Chip: strings.TrimPrefix(item.Build.Device.Name, "NVIDIA "), Outcome: verdict.Outcome,
		Why: verdict.Why, Record: item.Hash, Notes: []record.Note{}, OtherChips: v.elsewhere(item),
	}
	for _, n := range item.Notes {
		j.Notes = append(j.Notes, *n.Note)
	}
	return j
}

// next returns what was not measured, by predicted gain.
func (v *View) next() []Next {
	list := []Next{}
	list = append(list, v.openPredictions()...)
	if v.targets != nil {
		for _, i := range v.targets.Ideas {
			if i.Kernel == "" || !v.timedOn(i.Kernel, i.Chip) {
				list = append(list, Next{i.Name, i.Kernel, i.Chip, i.Expected, orElse(i.Why, targets.FileName)})
			}
		}
	}
	for _, k := range v.Kernels {
		if k.Outcome() == record.Defer {
			list = append(list, Next{"decide: " + k.Now.Verdict().Why, k.Label, strings.TrimPrefix(k.Now.Build.Device.Name, "NVIDIA "), nil, "record " + short(k.Now.Hash)})
		}
	}
	for _, name := range kernels.Names() {
		known := func(n Next) bool { return n.Kernel == name }
		if _, variant, err := kernels.Find(name); err == nil && !v.timedOn(name, "") && !slices.ContainsFunc(list, known) {
			list = append(list, Next{variant.Idea, name, "", nil, "not timed yet"})
		}
	}
	sorted.By(list, func(a, b Next) int { return cmp.Compare(b.gain(), a.gain()) })
	return list
}

// openPredictions returns the newest prediction of each kernel without a measured gain.
func (v *View) openPredictions() (list []Next) {
	for _, k := range v.Kernels {
		for _, item := range slices.Backward(k.Items) {
			if _, _, measured := decidingGain(item.Record); measured {
				break
			}
			if c := item.Criteria; c != nil && c.Expected != nil {
				what := k.Label
				if _, variant, err := kernels.Find(item.Kernel.Name); err == nil {
					what = variant.Idea
				}
				list = append(list, Next{what, k.Label, "", c.Expected, "gate --expect, record " + short(item.Hash)})
				break
			}
		}
	}
	return list
}

// timedOn reports whether a kernel was timed on a chip; "" is any chip.
func (v *View) timedOn(kernel, chip string) bool {
	return slices.ContainsFunc(v.Items, func(i *evidence.Item) bool {
		return i.Kernel.Name == kernel && timed(i) && !i.Build.Emulated() && (chip == "" || chips.OnChip(i.Build.Device.Name, chip))
	})
}

// gain returns the most likely gain. Without a prediction it is below every predicted one.
func (n *Next) gain() float64 {
	if n.Expected == nil {
		return -1
	}
	return n.Expected.Realistic
}

// NextTable returns what was not measured.
func (v *View) NextTable() *Table {
	t := &Table{Head: []string{"idea", "kernel", "chip", "predicted", "from"}}
	for _, n := range v.next() {
		predicted := mute("no prediction")
		if n.Expected != nil {
			predicted = text(rangeOf(n.Expected))
		}
		t.Rows = append(t.Rows, []Cell{text(n.What), text(orNone(n.Kernel)), text(orNone(n.Chip)), predicted, text(n.From)})
	}
	return t
}

// StatusPage returns the status as one page of Markdown, STATUS.md.
func (v *View) StatusPage() string {
	var b strings.Builder
	b.WriteString("# Status\n\n")
	if len(v.Items) == 0 {
		return b.String() + capital(Nothing) + ".\n"
	}
	s := v.Status()
	fmt.Fprintf(&b, "The newest record is of %s UTC. %s.\n\n## Done\n\n", day(s.Time), capital(chainLine(v.Check)))
	if len(s.Done) == 0 {
		b.WriteString("No kernel has a good verdict yet.\n")
	} else {
		b.WriteString(doneTable(s.Done).Markdown())
	}
	for _, c := range s.Ladder {
		fmt.Fprintf(&b, "\n### The ladder: %s\n\n%s", escape(c.Title()), c.Table().Markdown())
	}
	if len(s.Ladder) > 0 {
		fmt.Fprintf(&b, "\n%s\n", v.ClimbKey())
	}
	b.WriteString("\n## Did not work\n\n")
	if len(s.Failed) == 0 {
		b.WriteString("Nothing was rejected, and there is no valid negative.\n")
	}
	for i := range s.Failed {
		s.Failed[i].markdown(&b)
	}
	b.WriteString("\n## Next, by predicted gain\n\n")
	if len(s.Next) == 0 {
		b.WriteString("Every kernel was timed, and no idea is open. Write ideas into " + targets.FileName + ", or predict a gain with attest gate --expect.\n")
	} else {
		b.WriteString(v.NextTable().Markdown())
	}
	b.WriteString(v.targetsMarkdown())
	return b.String()
}

// targetsMarkdown returns the targets and the milestones, or "".
func (v *View) targetsMarkdown() string {
	if len(v.Goals()) == 0 {
		return ""
	}
	text := fmt.Sprintf("\n## Targets\n\n%s\n%s\n", v.TargetTable().Markdown(), v.TargetsKey())
	if len(v.Reached()) > 0 {
		text += "\n### Milestones\n\n" + v.MilestoneTable().Markdown()
	}
	return text
}

func doneTable(list []Judged) *Table {
	t := &Table{Head: []string{"kernel", "format", "chip", "verdict", "why", "record"}}
	for _, j := range list {
		t.Rows = append(t.Rows, []Cell{text(j.Kernel), text(orNone(j.Format)), text(j.Chip), outcome(j.Outcome), text(j.Why), {Text: short(j.Record), Class: "hash"}})
	}
	return t
}

// markdown writes what did not work, and why.
func (j *Judged) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "- **%s** (%s, %s): %s, %s (record `%s`)\n", escape(j.Kernel), escape(j.Format), escape(j.Chip), j.Outcome, escape(j.Why), short(j.Record))
	for _, n := range j.Notes {
		for _, p := range n.Parts() {
			fmt.Fprintf(b, "  - %s: %s\n", p[0], escape(p[1]))
		}
	}
	if len(j.Notes) == 0 && j.Outcome == record.ValidNegative {
		fmt.Fprintf(b, "  - no note: write one with `attest evidence note %s`\n", short(j.Record))
	}
	if j.OtherChips != "" {
		fmt.Fprintf(b, "  - other chips: %s\n", escape(j.OtherChips))
	}
}
