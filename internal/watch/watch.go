package watch

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/GOATnote-Inc/attest/device/launchfile"
	"github.com/GOATnote-Inc/attest/internal/gokernel"
	"github.com/GOATnote-Inc/attest/internal/limited"
)

// Watcher repeats a command.
type Watcher struct {
	Args  []string                                                       // the arguments of the command, from which the files to watch follow
	Run   func(ctx context.Context) (output string, code int, err error) // runs it once
	Out   io.Writer                                                      // what changed
	Mark  func(line string, added bool) string                           // colours a line of a difference
	Every time.Duration                                                  // how often files are looked at
	Runs  int                                                            // ends after so many runs; 0 never ends
	Now   func() time.Time
}

// Files returns the files that a command line reads: files among its arguments, the JSON file
// beside a PTX file, the sources of a Go package, and the files that a launch file names.
func Files(args []string) (files []string) {
	add := func(path string) {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && !slices.Contains(files, path) {
			files = append(files, path)
		}
	}
	for _, arg := range args {
		if flag, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(flag, "--") {
			arg = value
		}
		add(arg)
		for _, path := range sources(arg) {
			add(path)
		}
		if name, ok := strings.CutSuffix(arg, ".ptx"); ok {
			add(name + ".json")
		}
		if filepath.Ext(arg) != ".json" {
			continue
		}
		if text, err := limited.ReadFile(arg, limited.Small); err == nil {
			if f, err := launchfile.Parse(arg, text); err == nil {
				reads, _ := f.Files()
				for _, name := range reads {
					add(filepath.Join(filepath.Dir(arg), name))
				}
			}
		}
	}
	return files
}

// sources returns the Go files of the package of an argument such as ./mypkg.Kernel.
func sources(arg string) []string {
	pkg, _, ok := gokernel.Split(arg)
	if !ok {
		return nil
	}
	list, err := filepath.Glob(filepath.Join(pkg, "*.go"))
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(list, func(path string) bool { return strings.HasSuffix(path, "_test.go") })
}

// stamp identifies the state of files without reading them.
func stamp(files []string) string {
	var b strings.Builder
	for _, path := range files {
		info, err := os.Stat(path)
		if err != nil { // an editor replaces a file: it is there again soon
			fmt.Fprintf(&b, "%s gone\n", path)
			continue
		}
		fmt.Fprintf(&b, "%s %d %d\n", path, info.ModTime().UnixNano(), info.Size())
	}
	return b.String()
}

// Watch runs the command now and after every change of its files, until ctx ends.
func (w *Watcher) Watch(ctx context.Context) error {
	var last []string
	lastCode := 0
	for run := 1; ; run++ {
		files := Files(w.Args)
		if len(files) == 0 {
			return fmt.Errorf("the command reads no file, so there is nothing to watch: %s", strings.Join(w.Args, " "))
		}
		before := stamp(files)
		output, code, err := w.Run(ctx)
		if err != nil {
			return err
		}
		lines := strings.Split(strings.TrimRight(output, "\n"), "\n")
		if run == 1 {
			fmt.Fprintln(w.Out, strings.Join(lines, "\n"))
		} else {
			w.show(last, lines, lastCode, code)
		}
		last, lastCode = lines, code
		if run == w.Runs {
			return nil
		}
		fmt.Fprintf(w.Out, "--- %s  exit code %d; waiting for a change of %s\n", w.Now().Format("15:04:05"), code, strings.Join(files, ", "))
		if err := w.wait(ctx, files, before); err != nil {
			return err
		}
	}
}

// wait waits until the files differ from a state, and then until they rest: an editor may write
// several of them.
func (w *Watcher) wait(ctx context.Context, files []string, before string) error {
	tick := time.NewTicker(w.Every)
	defer tick.Stop()
	seen := before
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		now := stamp(files)
		if now != before && now == seen && !strings.Contains(now, " gone\n") {
			return nil
		}
		seen = now
	}
}

// show writes what changed between two outputs.
func (w *Watcher) show(old, now []string, oldCode, code int) {
	changes := Diff(old, now)
	if len(changes) == 0 {
		fmt.Fprintln(w.Out, "the output is the same")
	}
	for _, c := range changes {
		sign := "- "
		if c.Added {
			sign = "+ "
		}
		fmt.Fprintln(w.Out, w.Mark(sign+c.Line, c.Added))
	}
	if oldCode != code {
		fmt.Fprintf(w.Out, "the exit code was %d and is %d\n", oldCode, code)
	}
}
