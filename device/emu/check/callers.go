package check

import (
	"strings"

	"attest/device/emu"
	"attest/ptx"
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
func callee(in *emu.Inst) *ptx.Func {
	for i := range in.Args {
		if s := in.Args[i].Sym; s != nil && s.Kind == ptx.FuncSymbol {
			return s.Func
		}
	}
	return nil
}

// line is the line to name for an instruction: its own when it is in the kernel's
// file, else that of the call which leads to it, if there is only one.
func (l *launch) line(in *emu.Inst) string {
	k := l.calls()
	own, fn := in.Source, in.Func
	for range 64 {
		if fn == k.entry || k.file == "" || fileOf(own) == k.file {
			return own
		}
		sites := k.sites[fn]
		if len(sites) != 1 {
			break
		}
		call := &l.Program[sites[0]]
		own, fn = call.Source, call.Func
	}
	return in.Source
}

// lineOf is the line to name for an access, given the calls that led to it, the
// innermost first.
func (l *launch) lineOf(a *emu.Access) string {
	in := &l.Program[a.ID]
	k := l.calls()
	if in.Func == k.entry || k.file == "" || fileOf(in.Source) == k.file {
		return in.Source
	}
	for _, line := range a.Callers() {
		if fileOf(line) == k.file {
			return line
		}
	}
	return l.line(in)
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
