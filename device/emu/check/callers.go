package check

import (
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

// A defect is rarely in the headers of the toolkit. So a finding in a function from another file
// than the kernel names the line of the kernel's file that called the function.

// callers are the calls in the functions that a kernel can reach.
type callers struct {
	entry *ptx.Func
	file  string              // the source file of the kernel
	sites map[*ptx.Func][]int // by function: the instructions that call it
}

// calls returns the calls of the kernel. It finds them on the first call.
func (l *launch) calls() *callers {
	l.callersOnce.Do(func() {
		k := &callers{entry: l.entry(), sites: map[*ptx.Func][]int{}}
		within := map[*ptx.Func][]int{} // the calls in a function
		for id := range l.Program {
			in := &l.Program[id]
			if in.Func == k.entry && k.file == "" {
				k.file = fileOf(in.Source)
			}
			if in.Op.Name == "call" {
				within[in.Func] = append(within[in.Func], id)
			}
		}
		seen := map[*ptx.Func]bool{k.entry: true}
		for queue := []*ptx.Func{k.entry}; len(queue) > 0; queue = queue[1:] {
			for _, id := range within[queue[0]] {
				f := callee(&l.Program[id])
				if f == nil {
					continue
				}
				k.sites[f] = append(k.sites[f], id)
				if !seen[f] {
					seen[f] = true
					queue = append(queue, f)
				}
			}
		}
		l.callers = k
	})
	return l.callers
}

// callee returns the function that a call names, or nil.
func callee(in *observe.Inst) *ptx.Func {
	for i := range in.Args {
		if s := in.Args[i].Sym; s != nil && s.Kind == ptx.FuncSymbol {
			return s.Func
		}
	}
	return nil
}

// site is a source line and the lines of the calls that lead to it, the innermost first.
type site struct {
	line    string
	callers []string
}

// site returns the source line to report for an instruction: its own line if that is in the
// kernel's file, else the line of the call that leads to it. It follows calls upwards while a
// function is called from one place only.
func (l *launch) site(in *observe.Inst) site {
	k := l.calls()
	at := site{in.Source, in.Callers}
	if in.Func == k.entry {
		return at
	}
	up := in.Callers
	for fn := in.Func; fn != k.entry && len(k.sites[fn]) == 1 && len(up) < 64; {
		call := &l.Program[k.sites[fn][0]]
		up = append(append(slices.Clip(up), call.Source), call.Callers...)
		fn = call.Func
	}
	return k.own(at, up)
}

// siteOf returns the source line to report for an access, and the calls that led to it.
func (l *launch) siteOf(a *observe.Access) site {
	in := &l.Program[a.ID]
	if in.Func == l.calls().entry {
		return site{in.Source, in.Callers}
	}
	return l.called(in, append(slices.Clip(in.Callers), a.Callers()...))
}

// called returns the source line to report for an instruction. up are the calls that led to it,
// the innermost first.
func (l *launch) called(in *observe.Inst, up []string) site {
	if len(up) == 0 || in.Func == l.calls().entry {
		return l.site(in)
	}
	return l.calls().own(site{in.Source, in.Callers}, up)
}

// library reports whether an instruction comes from a header that the author did not write.
func (l *launch) library(in *observe.Inst) bool {
	k := l.calls()
	return in.Library || in.Func != k.entry && k.file != "" && fileOf(in.Source) != k.file
}

// own returns a site with only the lines of the kernel's file. It returns at if there are none.
func (k *callers) own(at site, up []string) site {
	if k.file == "" {
		return at
	}
	var mine []string
	if fileOf(at.line) == k.file {
		mine = append(mine, at.line)
	}
	for _, line := range up {
		if fileOf(line) == k.file {
			mine = append(mine, line)
		}
	}
	if len(mine) == 0 {
		return at
	}
	return site{mine[0], mine[1:]}
}

// fileOf returns the file of "file:line:column".
func fileOf(line string) string {
	for range 2 {
		if i := strings.LastIndexByte(line, ':'); i >= 0 {
			line = line[:i]
		}
	}
	return line
}
