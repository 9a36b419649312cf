package cli

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/GOATnote-Inc/attest/internal/findingtext"
	"github.com/GOATnote-Inc/attest/internal/limited"
	"github.com/GOATnote-Inc/attest/internal/ordered"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// Stdin is the argument that stands for standard input.
const Stdin = "-"

// File is a PTX file that a command works on, with what was found in it.
type File struct {
	findingtext.Report
	Path   string
	Text   string
	Module *ptx.Module // nil when the file could not be read or parsed
	Code   int         // the exit code that the file asks for
}

// Raise sets the exit code to code, unless it is higher already.
func (f *File) Raise(code int) { f.Code = max(f.Code, code) }

// Print writes the findings about the file to the error stream.
func (f *File) Print(e *Env) {
	findingtext.NewPrinter(e.Err, e.ErrStyle(), f.File, f.Text).Print(f.Findings())
}

// EachFile reads and parses files on all cores, calls work for those that parse, and then
// show for each file, in the order of paths. Findings are printed to the error stream before
// show is called. With --json they are not printed, and show writes them as part of its
// object. The error carries the exit code for Code.
func EachFile[T any](ctx context.Context, e *Env, paths []string, work func(*File) T, show func(*File, T)) error {
	type done struct {
		file   *File
		result T
	}
	if first := slices.Index(paths, Stdin); first >= 0 && slices.Contains(paths[first+1:], Stdin) {
		return errors.New("- is given twice: standard input can be read only once")
	}
	progress := e.StartProgress()
	defer progress.Stop()
	progress.Say("reading %s", paths[0])
	code := OK
	err := ordered.Map(ctx, len(paths), func(i int) done {
		d := done{file: e.Load(paths[i])}
		if d.file.Module != nil {
			d.result = work(d.file)
		}
		return d
	}, func(i int, d done) {
		progress.Print(func() {
			if !e.JSON {
				d.file.Print(e)
			}
			show(d.file, d.result)
		})
		if i+1 < len(paths) {
			progress.Say("%d of %d files done; %s", i+1, len(paths), paths[i+1])
		}
		if errs, _ := d.file.Count(); errs > 0 {
			d.file.Raise(Red)
		}
		code = max(code, d.file.Code)
	})
	if err != nil {
		return err
	}
	return Exit(code)
}

// Load reads and parses a file. Its Report says what went wrong.
func (e *Env) Load(path string) *File {
	name := path
	if path == Stdin {
		name = "<stdin>"
	}
	f := &File{Path: path, Report: findingtext.Report{File: name, Diagnostics: []findingtext.Diagnostic{}}}
	text, err := e.read(path)
	if err != nil {
		f.Fail("unreadable", err)
		f.Raise(Misuse)
		return f
	}
	f.parse(text)
	return f
}

// ParseFile returns the file with a name and a text that was read elsewhere.
func ParseFile(name, text string) *File {
	f := &File{Path: name, Report: findingtext.Report{File: name, Diagnostics: []findingtext.Diagnostic{}}}
	f.parse(text)
	return f
}

func (f *File) parse(text string) {
	f.Text = text
	m, err := parse.Parse(f.File, text)
	if err != nil {
		f.Syntax(err)
		return
	}
	f.Module = m
}

func (e *Env) read(path string) (string, error) {
	var b []byte
	var err error
	if path == Stdin {
		b, err = limited.ReadAll(e.In, limited.Text)
	} else {
		b, err = limited.ReadFile(path, limited.Text)
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err // the message starts with the path already
	}
	return string(b), err
}
