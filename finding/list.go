package finding

// List collects findings in the order of their discovery: the first one is usually
// the cause of the others. What is found again is merged.
type List struct {
	all   []*Finding
	known map[Key]*Finding
}

// Add adds findings. Each keeps the schedule in which it was seen first.
func (l *List) Add(found ...Finding) {
	if l.known == nil {
		l.known = map[Key]*Finding{}
	}
	for _, f := range found {
		f.Count = max(f.Count, 1)
		if old := l.find(&f); old != nil {
			old.Merge(&f)
			continue
		}
		l.known[f.Key()] = &f
		l.all = append(l.all, &f)
	}
}

// find returns the finding of the list that is the same as f, or nil.
func (l *List) find(f *Finding) *Finding {
	k := f.Key()
	if old := l.known[k]; old != nil {
		return old
	}
	turned, _ := k.Turned()
	if old := l.known[turned]; old != nil && Same(old, f) {
		return old
	}
	return nil
}

// All returns the findings in the order of their discovery.
func (l *List) All() []Finding {
	all := make([]Finding, len(l.all))
	for i, f := range l.all {
		all[i] = *f
	}
	return all
}

// Count returns the number of errors and the number of warnings.
func (l *List) Count() (errs, warnings int) { return Count(l.All()) }

// Count returns the number of errors and the number of warnings among findings. Notes do not
// count.
func Count(found []Finding) (errs, warnings int) {
	for i := range found {
		switch found[i].Severity {
		case Error:
			errs++
		case Warning:
			warnings++
		}
	}
	return errs, warnings
}
