package build

import (
	"fmt"
	"path"
	"runtime"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
)

// Error is a misuse, at the line of the author's Go code that made it.
type Error struct {
	Where string // "github.com/GOATnote-Inc/attest/examples/saxpy.go:21"
	Msg   string
}

func (e *Error) Error() string { return e.Where + ": " + e.Msg }

// Errors is what was wrong with a kernel, in the order it was written.
type Errors []*Error

func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, err := range e {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find the single errors.
func (e Errors) Unwrap() []error {
	errs := make([]error, len(e))
	for i := range e {
		errs[i] = e[i]
	}
	return errs
}

// maxErrors is how many misuses are kept: later ones mostly follow from the first.
const maxErrors = 10

// Errorf reports a misuse at the author's line: for packages that build on this one.
func (k *Kernel) Errorf(format string, args ...any) { k.errorf(format, args...) }

func (k *Kernel) errorf(format string, args ...any) {
	if len(k.errs) < maxErrors {
		k.errs = append(k.errs, &Error{k.src.author().String(), fmt.Sprintf(format, args...)})
	}
}

// place is a line of an author's source file. Files go by import path, not by
// where a checkout lies, so that a kernel's PTX is the same on every machine.
type place struct {
	file string
	line int
}

func (p place) String() string { return fmt.Sprintf("%s:%d", p.file, p.line) }

// sources finds the author's line of a call, and numbers the files for .loc.
type sources struct {
	byPC  map[uintptr]place // where "" is one of our own frames
	files []*ptx.File
	index map[string]int
	last  place
}

func (s *sources) init() {
	s.byPC = map[uintptr]place{}
	s.index = map[string]int{}
}

// author is the innermost caller outside this package and those below it.
func (s *sources) author() place {
	var pcs [32]uintptr
	n := runtime.Callers(2, pcs[:])
	for _, pc := range pcs[:n] {
		p, ok := s.byPC[pc]
		if !ok {
			p = resolve(pc)
			s.byPC[pc] = p
		}
		if p.file != "" {
			return p
		}
	}
	return place{"unknown", 0}
}

// resolve finds the author's line at a return address: the innermost frame there
// (calls may be inlined into each other) that is not one of our own.
func resolve(pc uintptr) place {
	frames := runtime.CallersFrames([]uintptr{pc})
	for {
		f, more := frames.Next()
		ours := strings.HasPrefix(path.Dir(f.File)+"/", ownFolder)
		if !ours || strings.HasSuffix(f.File, "_test.go") {
			return place{packagePath(f.Function) + "/" + path.Base(f.File), f.Line}
		}
		if !more {
			return place{}
		}
	}
}

// ownFolder is where this package and those below it are. The names of functions do not
// say: a closure of a function that was inlined into an author's is called after that.
var ownFolder = func() string {
	_, file, _, _ := runtime.Caller(0)
	return path.Dir(file) + "/"
}()

// packagePath cuts a function's full name "a/b.c.(*T).M.func1" to "a/b.c"'s
// package, "a/b".
func packagePath(fn string) string {
	slash := strings.LastIndexByte(fn, '/')
	dot := strings.IndexByte(fn[slash+1:], '.')
	if dot < 0 {
		return fn
	}
	return strings.TrimSuffix(fn[:slash+1+dot], "_test")
}

// loc is the .loc directive for the present author's line, or nil when it is
// still that of the last instruction.
func (s *sources) loc() *ptx.Loc {
	p := s.author()
	if p == s.last {
		return nil
	}
	s.last = p
	i, ok := s.index[p.file]
	if !ok {
		i = len(s.files) + 1
		s.index[p.file] = i
		s.files = append(s.files, &ptx.File{Index: i, Name: p.file})
	}
	return &ptx.Loc{File: i, Line: p.line, Col: 1}
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
