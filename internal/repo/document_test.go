package repo

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// update makes the tests rewrite what documents show instead of comparing it.
var update = flag.Bool("update", false, "rewrite the outputs, code, results and pictures that the documents show")

// document is a Markdown file of the repository.
type document struct {
	path   string // relative to the root
	text   string
	blocks []block
}

// block is a fenced block of a document.
type block struct {
	lang string
	from string // the path in an HTML comment on the line before the block: the file that the block repeats
	line int
	text string
}

// documents returns the Markdown files in the root and in docs.
func documents(t *testing.T) (docs []*document) {
	t.Helper()
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		paths, err := filepath.Glob(filepath.Join(root(t), pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			rel, err := filepath.Rel(root(t), path)
			if err != nil {
				t.Fatal(err)
			}
			docs = append(docs, open(t, filepath.ToSlash(rel)))
		}
	}
	if len(docs) < 4 {
		t.Fatalf("found only %d documents", len(docs))
	}
	return docs
}

// open reads a document and its fenced blocks.
func open(t *testing.T, path string) *document {
	t.Helper()
	d := &document{path: path, text: readFile(t, path)}
	var current *block
	n, before := 0, ""
	for line := range strings.Lines(d.text) {
		n++
		fence, isFence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case isFence && current == nil:
			current = &block{lang: fence, from: comment(before), line: n}
		case isFence:
			d.blocks = append(d.blocks, *current)
			current = nil
		case current != nil:
			current.text += line
		}
		before = line
	}
	if current != nil {
		t.Fatalf("%s: the block that starts at line %d is not closed", path, current.line)
	}
	return d
}

// comment returns the text of a line that is one HTML comment, and "" for any other line.
func comment(line string) string {
	text, ok := strings.CutPrefix(strings.TrimSpace(line), "<!--")
	if !ok {
		return ""
	}
	return strings.TrimSpace(strings.TrimSuffix(text, "-->"))
}

// compare checks that a block has the text want. With -update it rewrites the block.
func (d *document) compare(t *testing.T, b *block, want string) {
	t.Helper()
	if b.text == want {
		return
	}
	if !*update {
		t.Errorf("%s:%d: the block is\n%s\nand should be\n%s\nif the new text is right, run go test ./internal/repo -update", d.path, b.line, b.text, want)
		return
	}
	fence := "```" + b.lang + "\n"
	d.text = strings.Replace(d.text, fence+b.text+"```", fence+want+"```", 1)
	writeFile(t, d.path, d.text)
}

// prose returns the text of a document without its fenced blocks and tables.
func (d *document) prose() string {
	var out strings.Builder
	inside := false
	for line := range strings.Lines(d.text) {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if !fence && !inside && !strings.HasPrefix(line, "|") && comment(line) == "" {
			out.WriteString(line)
		}
		inside = inside != fence
	}
	return out.String()
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root(t), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(root(t), name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
