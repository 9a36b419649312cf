package repo

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// block is a fenced block of a Markdown file.
type block struct {
	lang string
	from string // the path in an HTML comment on the line before: where the code stands
	line int
	text string
}

// update makes the tests write the README anew instead of comparing.
var update = flag.Bool("update", false, "rewrite the outputs and the code that the README shows")

// TestReadmeCommands runs the commands of the README's console blocks, the lines
// that start with "$ ", and compares what they print, on both streams, with what
// the README shows.
func TestReadmeCommands(t *testing.T) {
	ran := 0
	for _, b := range readme(t) {
		if b.lang != "console" {
			continue
		}
		var now strings.Builder
		for _, line := range commands(b.text) {
			ran++
			args := strings.Fields(line)
			cmd := exec.Command(args[0], args[1:]...)
			cmd.Dir = root(t)
			out, _ := cmd.CombinedOutput() // a command may fail on purpose: go run then says so
			now.WriteString("$ " + line + "\n" + string(out))
		}
		b.compare(t, now.String())
	}
	if ran == 0 {
		t.Error("the README shows no command with its output")
	}
}

// TestReadmeCode compares the README's Go and JSON with the file it says it is from.
func TestReadmeCode(t *testing.T) {
	seen := 0
	for _, b := range readme(t) {
		if b.lang != "go" && b.lang != "json" {
			continue
		}
		seen++
		if b.from == "" {
			t.Errorf("line %d: code needs a line <!-- path --> before it", b.line)
			continue
		}
		b.compare(t, readFile(t, b.from))
	}
	if seen == 0 {
		t.Error("the README shows no kernel")
	}
}

// compare checks that a block is what it ought to be, or makes it so.
func (b *block) compare(t *testing.T, want string) {
	t.Helper()
	if b.text == want {
		return
	}
	if !*update {
		t.Errorf("the block at line %d of the README is\n%s\nand should be\n%s\nif that was the intention: go test ./internal/repo -update", b.line, b.text, want)
		return
	}
	open := "```" + b.lang + "\n"
	text := strings.Replace(readFile(t, "README.md"), open+b.text+"```", open+want+"```", 1)
	if err := os.WriteFile(filepath.Join(root(t), "README.md"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestReadmeNamesPackages checks that the README's map has every package.
func TestReadmeNamesPackages(t *testing.T) {
	text := readFile(t, "README.md")
	pkgs := list(t)
	for i := range pkgs {
		if p := pkgs[i].rel(); !strings.Contains(text, "`"+p+"`") {
			t.Errorf("the README's map of packages does not have `%s`: give it a row", p)
		}
	}
}

// TestReadmeOrder checks what the README says of its map of packages: a package imports
// only packages in its own row or above it.
func TestReadmeOrder(t *testing.T) {
	rows := map[string]int{}
	n := 0
	for line := range strings.Lines(readFile(t, "README.md")) {
		cell, ok := strings.CutPrefix(line, "| `")
		if !ok {
			continue
		}
		cell, _, _ = strings.Cut(cell, "|")
		for _, name := range strings.Split(cell, ",") {
			rows[strings.Trim(name, " `")] = n
		}
		n++
	}
	pkgs := list(t)
	for i := range pkgs {
		from := pkgs[i].rel()
		for _, imp := range pkgs[i].Imports {
			if to, ours := strings.CutPrefix(imp, module+"/"); ours && rows[to] > rows[from] {
				t.Errorf("%s imports %s, which stands below it in the README", from, to)
			}
		}
	}
}

// commands are the lines of a console block that someone typed.
func commands(text string) (cs []string) {
	for line := range strings.Lines(text) {
		if c, ok := strings.CutPrefix(line, "$ "); ok {
			cs = append(cs, strings.TrimSpace(c))
		}
	}
	return cs
}

func readme(t *testing.T) (blocks []block) {
	t.Helper()
	var open *block
	n, before := 0, ""
	for line := range strings.Lines(readFile(t, "README.md")) {
		n++
		fence, isFence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case isFence && open == nil:
			open = &block{lang: fence, from: comment(before), line: n}
		case isFence:
			blocks = append(blocks, *open)
			open = nil
		case open != nil:
			open.text += line
		}
		before = line
	}
	if open != nil {
		t.Fatalf("the block of line %d is never closed", open.line)
	}
	return blocks
}

// comment is the text of a line that is one HTML comment.
func comment(line string) string {
	text, ok := strings.CutPrefix(strings.TrimSpace(line), "<!--")
	if !ok {
		return ""
	}
	return strings.TrimSpace(strings.TrimSuffix(text, "-->"))
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root(t), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
