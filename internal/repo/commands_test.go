package repo

import (
	"os/exec"
	"strings"
	"testing"
)

// TestCommands runs the commands of every document's console blocks, the lines that
// start with "$ ", and compares what they print on both streams with what the document
// shows.
func TestCommands(t *testing.T) {
	ran := 0
	for _, d := range documents(t) {
		for i := range d.blocks {
			b := &d.blocks[i]
			if b.lang != "console" {
				continue
			}
			var now strings.Builder
			for _, line := range commands(b.text) {
				ran++
				args := strings.Fields(line)
				cmd := exec.Command(args[0], args[1:]...)
				cmd.Dir = root(t)
				out, _ := cmd.CombinedOutput() // a command may fail on purpose: go run then prints its exit status
				now.WriteString("$ " + line + "\n" + string(out))
			}
			d.compare(t, b, now.String())
		}
	}
	if ran == 0 {
		t.Error("no document shows a command with its output")
	}
}

// commands returns the command lines of a console block.
func commands(text string) (cs []string) {
	for line := range strings.Lines(text) {
		if c, ok := strings.CutPrefix(line, "$ "); ok {
			cs = append(cs, strings.TrimSpace(c))
		}
	}
	return cs
}

// TestCode compares the Go and JSON of every document with the file that it repeats.
func TestCode(t *testing.T) {
	seen := 0
	for _, d := range documents(t) {
		for i := range d.blocks {
			b := &d.blocks[i]
			if b.lang != "go" && b.lang != "json" {
				continue
			}
			seen++
			if b.from == "" {
				t.Errorf("%s:%d: a block of code needs a line <!-- path --> before it", d.path, b.line)
				continue
			}
			d.compare(t, b, readFile(t, b.from))
		}
	}
	if seen == 0 {
		t.Error("no document shows code")
	}
}
