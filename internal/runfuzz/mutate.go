package runfuzz

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// Mutator makes mutants of texts.
type Mutator struct {
	Texts []*Text // the texts that are changed
	// donors are the texts from which lines are taken: Texts and larger ones.
	donors []*Text
	// forms holds the opcodes of all donors by the name of the instruction.
	forms map[string][]string
	names []string // the keys of forms, sorted
}

// NewMutator returns a mutator of texts. It takes lines also from more texts, which are too large to
// be run often.
func NewMutator(texts, more []string) *Mutator {
	m := &Mutator{forms: map[string][]string{}}
	for i, s := range slices.Concat(texts, more) {
		t := NewText(s)
		if i < len(texts) {
			m.Texts = append(m.Texts, t)
		}
		m.donors = append(m.donors, t)
		m.learn(t)
	}
	for name, forms := range m.forms {
		slices.Sort(forms)
		m.forms[name] = slices.Compact(forms)
		m.names = append(m.names, name)
	}
	slices.Sort(m.names)
	return m
}

func (m *Mutator) learn(t *Text) {
	for _, l := range t.lines {
		if l.op >= 0 {
			name, _, _ := strings.Cut(l.words[l.op], ".")
			m.forms[name] = append(m.forms[name], l.words[l.op])
		}
	}
}

// Mutant returns the mutant of a seed. One mutant in 1000 comes from a large text. Short texts are
// chosen more often, because their mutants are faster.
func (m *Mutator) Mutant(seed uint64) string {
	r := random(seed, 1)
	if r.IntN(1000) == 0 {
		return m.change(r, m.donors[r.IntN(len(m.donors))])
	}
	t := m.Texts[r.IntN(len(m.Texts))]
	for range r.IntN(4) {
		if other := m.Texts[r.IntN(len(m.Texts))]; len(other.lines) < len(t.lines) {
			t = other
		}
	}
	return m.change(r, t)
}

// Mutate returns a text with a few random changes. The same seed gives the same changes.
func (m *Mutator) Mutate(text string, seed uint64) string {
	return m.change(random(seed, 1), NewText(text))
}

// random returns the source of random choices for one purpose of a seed.
func random(seed, purpose uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, purpose*0x9e3779b97f4a7c15))
}

func (m *Mutator) change(r *rand.Rand, t *Text) string {
	w := &work{Mutator: m, r: r, text: t, lines: append(make([]line, 0, len(t.lines)+16), t.lines...)}
	for range 1 + r.IntN(4) {
		operators[w.pick()](w)
		if len(w.lines) == 0 { // the text was one line, and an operator removed it
			break
		}
	}
	return w.String()
}

// work is a text under change.
type work struct {
	*Mutator
	r     *rand.Rand
	text  *Text
	lines []line
}

func (w *work) pick() int {
	n := w.r.IntN(totalWeight)
	for i, weight := range weights {
		if n -= weight; n < 0 {
			return i
		}
	}
	return 0
}

func (w *work) String() string {
	n := 0
	for _, l := range w.lines {
		n += len(l.raw) + 1
	}
	var b strings.Builder
	b.Grow(n)
	for _, l := range w.lines {
		b.WriteString(l.raw)
		b.WriteByte('\n')
	}
	return b.String()
}

// instruction returns the index of a random instruction for which ok holds, or -1. A nil ok holds for all.
func (w *work) instruction(ok func(line) bool) int {
	for range 8 {
		i := w.r.IntN(len(w.lines))
		if w.lines[i].op >= 0 && (ok == nil || ok(w.lines[i])) {
			return i
		}
	}
	return -1
}

// donor returns a random text from which lines are taken: often the text itself.
func (w *work) donor() *Text {
	if w.r.IntN(3) == 0 {
		return w.text
	}
	return w.donors[w.r.IntN(len(w.donors))]
}

// adapt returns a line of another text with registers and labels of this one, where there are any
// of the same class.
func (w *work) adapt(l line, from *Text) line {
	if from == w.text || l.op < 0 {
		return l
	}
	words := slices.Clone(l.words)
	for i, word := range words {
		if c, ok := from.regs[word]; ok && w.text.regs[word] != c {
			if same := w.text.all[c]; len(same) > 0 {
				words[i] = same[w.r.IntN(len(same))]
			}
		} else if i > l.op && len(w.text.labels) > 0 && slices.Contains(from.labels, word) {
			words[i] = w.text.labels[w.r.IntN(len(w.text.labels))]
		}
	}
	return joined(words)
}

// replace replaces one of the words of line i for which want holds.
func (w *work) replace(i int, want func(string) bool, with func(string) string) {
	words := w.lines[i].words
	n := 0
	for _, s := range words {
		if want(s) {
			n++
		}
	}
	if n == 0 {
		return
	}
	n = w.r.IntN(n)
	words = slices.Clone(words)
	for j, s := range words {
		if !want(s) {
			continue
		}
		if n == 0 {
			words[j] = with(s)
			break
		}
		n--
	}
	words = slices.DeleteFunc(words, func(s string) bool { return s == "" })
	w.lines[i] = joined(words)
}

func (w *work) insert(i int, ls ...line) { w.lines = slices.Insert(w.lines, i, ls...) }
