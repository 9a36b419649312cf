package build

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
)

// Error is a misuse, at the line of the author's Go code that made it.
type Error struct {
	// Where is a path and a line that an editor can open: "examples/saxpy.go:21". The
	// path is relative to the working directory if the file lies below it, and absolute
	// otherwise. A file that is not on this machine goes by its import path.
	Where string
	Msg   string
}

func (e *Error) Error() string { return e.Where + ": " + e.Msg }

// Errors are the misuses in a kernel, in the order in which it was written.
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
		k.errs = append(k.errs, &Error{k.src.author().open(), fmt.Sprintf(format, args...)})
	}
}

// place is a line of an author's source file. In PTX the file goes by its import path,
// so that a kernel's text is the same on every machine; errors go by its path on disk.
type place struct {
	file string // import path and name
	path string // on the machine that compiled the program
	line int
}

// open is the place as an editor can open it.
func (p place) open() string {
	file := p.file
	if _, err := os.Stat(p.path); err == nil {
		file = p.path
		if dir, err := os.Getwd(); err == nil {
			if rel, err := filepath.Rel(dir, p.path); err == nil && filepath.IsLocal(rel) {
				file = rel
			}
		}
	}
	return fmt.Sprintf("%s:%d", file, p.line)
}

// sources finds the author's line of a call, and numbers the files for .loc.
type sources struct {
	byPC  map[uintptr]place // file "" is one of our own frames
	paths map[string]string // by import path and name: the path on disk
	files []*ptx.File
	index map[string]int
	last  place
}

func (s *sources) init() {
	s.byPC = map[uintptr]place{}
	s.paths = map[string]string{}
	s.index = map[string]int{}
}

// author is the innermost caller outside this package and those below it. Most often it is near, and a walk
// over the whole stack takes longer than everything else about an instruction.
func (s *sources) author() place {
	var pcs [32]uintptr
	for near := 0; near < len(pcs); {
		ask := pcs[near:min(max(nearCallers, 2*near), len(pcs))]
		n := runtime.Callers(2+near, ask)
		for _, pc := range ask[:n] {
			if p := s.at(pc); p.file != "" {
				return p
			}
		}
		if n < len(ask) {
			break
		}
		near += n
	}
	return place{file: "unknown"}
}

// nearCallers is the number of callers that are looked at first.
const nearCallers = 8

// at returns the author's line at a return address; its file is "" in one of our own frames.
func (s *sources) at(pc uintptr) place {
	p, ok := s.byPC[pc]
	if !ok {
		p = resolve(pc)
		s.byPC[pc] = p
		s.paths[p.file] = p.path
	}
	return p
}

// open is a place that a .loc names, "import/path/file.go:12:1", as an editor can open it.
func (s *sources) open(loc string) string {
	parts := strings.Split(loc, ":")
	if len(parts) < 2 {
		return loc
	}
	line, err := strconv.Atoi(parts[1])
	if err != nil {
		return loc
	}
	return place{parts[0], s.paths[parts[0]], line}.open()
}

// resolve finds the author's line at a return address: the innermost frame there
// (calls may be inlined into each other) that is not one of our own.
func resolve(pc uintptr) place {
	frames := runtime.CallersFrames([]uintptr{pc})
	for {
		f, more := frames.Next()
		ours := strings.HasPrefix(path.Dir(f.File)+"/", ownFolder)
		if !ours || strings.HasSuffix(f.File, "_test.go") {
			return place{packagePath(f.Function) + "/" + path.Base(f.File), f.File, f.Line}
		}
		if !more {
			return place{}
		}
	}
}

// ownFolder is the folder of this package and those below it. Names of functions cannot
// tell: a closure of a function that was inlined into the author's is named after the
// author's.
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

// loc is the .loc directive for the author's current line, or nil if the last instruction
// had the same one.
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
