package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/atomicfile"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/findingtext"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

func fmtCommand(env *cli.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "fmt [FILE…]",
		Short: "Print PTX in its normal form, or rewrite it in place",
		Long: `Print PTX in its normal form, or rewrite it in place.

  attest ptx fmt -w kernel.ptx

The normal form has one statement per line, tabs for indentation, and all comments. It
assembles to the same machine code. Without FILE, or with -, standard input is read.

-w rewrites the files that differ, each in one step: after a crash a file has the old
text or the new one. A file that does not parse is not changed.

JSON: {"file", "diagnostics", "changed"} for each file, with "text" unless -w or
-l is given and "written" with -w.`,
		Example: `  attest ptx fmt kernel.ptx
  attest ptx fmt -w *.ptx
  attest ptx fmt --check *.ptx         for CI: names files that differ, exit code 1
  nvcc -ptx -o - kernel.cu | attest ptx fmt`,
	}
	f := formatter{env: env}
	c.Flags().BoolVarP(&f.write, "write", "w", false, "rewrite files instead of printing")
	c.Flags().BoolVarP(&f.check, "check", "l", false, "name the files whose formatting differs and exit 1 if any does")
	c.MarkFlagsMutuallyExclusive("write", "check")
	c.RunE = func(c *cobra.Command, paths []string) error {
		paths, err := f.inputs(paths)
		if err != nil {
			return err
		}
		return cli.EachFile(c.Context(), env, paths, normalise, f.show)
	}
	return c
}

type formatter struct {
	env          *cli.Env
	write, check bool
}

// formatted is the JSON of a file.
type formatted struct {
	*findingtext.Report
	Changed bool    `json:"changed"`
	Written *bool   `json:"written,omitempty"`
	Text    *string `json:"text,omitempty"`
}

// inputs returns the files to read: standard input when no file is named.
func (f *formatter) inputs(paths []string) ([]string, error) {
	if len(paths) == 0 {
		if term.IsTerminal(f.env.In) {
			return nil, errors.New("no FILE is given and nothing is piped in; see attest ptx fmt --help")
		}
		paths = []string{cli.Stdin}
	}
	if f.write {
		for _, p := range paths {
			if p == cli.Stdin {
				return nil, errors.New("-w rewrites files: it cannot be used with standard input")
			}
		}
	}
	return paths, nil
}

// normalise returns the normal form of a file. It parses the normal form again, because a
// text that does not survive this must not replace the file of a user.
func normalise(f *cli.File) string {
	text := f.Module.String()
	if text == f.Text {
		return text
	}
	again, err := parse.Parse(f.File, text)
	if err == nil && again.String() != text {
		err = errors.New("printing it twice gives two texts")
	}
	if err != nil {
		f.Fail("unprintable", fmt.Errorf("this is a defect of attest, please report it with the file: its normal form is not stable: %w", err))
	}
	return text
}

func (f *formatter) show(file *cli.File, text string) {
	errs, _ := file.Count()
	out := formatted{Report: &file.Report}
	if errs == 0 {
		out.Changed = text != file.Text
		switch {
		case f.write:
			written := f.rewrite(file, text)
			out.Written = &written
		case f.check && out.Changed:
			file.Raise(cli.Red)
		case !f.check:
			out.Text = &text
		}
	}
	switch {
	case f.env.JSON:
		f.env.Encode(out)
	case f.check && out.Changed:
		fmt.Fprintln(f.env, file.File)
	case out.Text != nil:
		io.WriteString(f.env, text)
	}
}

// rewrite replaces the file if its text changed, and says whether it did.
func (f *formatter) rewrite(file *cli.File, text string) bool {
	if text == file.Text {
		return false
	}
	if err := atomicfile.Write(file.Path, []byte(text)); err != nil {
		file.Fail("unwritable", err)
		file.Raise(cli.Misuse)
		if !f.env.JSON {
			fmt.Fprintf(f.env.Err, "%s: %v\n", file.File, err)
		}
		return false
	}
	return true
}
