package launchfile

import "slices"

// Files returns the files that the launches read and those that they write, as the launch file
// names them. Each file is listed once.
func (f *File) Files() (reads, writes []string) {
	add := func(list *[]string, name string) {
		if name != "" && !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	visit := func(b *buffer) {
		if b == nil {
			return
		}
		add(&reads, b.file)
		add(&reads, b.expect)
		add(&writes, b.save)
	}
	for i := range f.Launches {
		l := &f.Launches[i]
		add(&reads, l.Module)
		for _, b := range l.buffers {
			visit(b)
		}
		for _, p := range l.params {
			visit(p.buffer)
			if p.tensor != nil {
				visit(p.tensor.buffer)
			}
		}
	}
	return reads, writes
}
