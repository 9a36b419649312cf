package check

import (
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Nobody looks for a mistake in the toolkit's headers. What happens in a function that
// is not of the kernel's own file is therefore told at the line that called it.

// callers is who calls whom, of what a kernel reaches.
type callers struct {
	entry *ptx.Func
	file  string              // of the kernel
	sites map[*ptx.Func][]int // the calls of a function
}

// calls is who calls whom in the launch, found out when it is first asked for.
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

// callee is the function that a call names, or nil.
func callee(in *observe.Inst) *ptx.Func {
	for i := range in.Args {
		if s := in.Args[i].Sym; s != nil && s.Kind == ptx.FuncSymbol {
			return s.Func
		}
	}
	return nil
}

// site is a line of the source, and the calls that lead to it, the innermost first.
type site struct {
	line    string
	callers []string
}

// site is the line to name for an instruction: its own when it is in the kernel's
// file, else that of the call which leads to it. Calls are known as far as there is
// only one.
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

// siteOf is the line to name for an access, and the calls that led to it.
func (l *launch) siteOf(a *observe.Access) site {
	in := &l.Program[a.ID]
	if in.Func == l.calls().entry {
		return site{in.Source, in.Callers}
	}
	return l.called(in, append(slices.Clip(in.Callers), a.Callers()...))
}

// called is the line to name for an instruction that calls led to, the innermost
// first.
func (l *launch) called(in *observe.Inst, up []string) site {
	if len(up) == 0 || in.Func == l.calls().entry {
		return l.site(in)
	}
	return l.calls().own(site{in.Source, in.Callers}, up)
}

// library reports whether an instruction is of a header that is not the author's.
func (l *launch) library(in *observe.Inst) bool {
	k := l.calls()
	return in.Library || in.Func != k.entry && k.file != "" && fileOf(in.Source) != k.file
}

// own is a site, given the calls that lead to it, as the author of the kernel's file
// sees it.
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

// fileOf is the file of "file:line:column".
func fileOf(line string) string {
	for range 2 {
		if i := strings.LastIndexByte(line, ':'); i >= 0 {
			line = line[:i]
		}
	}
	return line
}
