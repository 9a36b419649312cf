package repo

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// TestLinks checks that every link between documents leads to a file of the repository
// and, where it names a heading, that the heading exists.
func TestLinks(t *testing.T) {
	seen := 0
	for _, d := range documents(t) {
		for _, m := range link.FindAllStringSubmatch(d.prose()+d.tables(), -1) {
			target := m[1]
			if strings.Contains(target, "://") {
				continue
			}
			seen++
			path, anchor, _ := strings.Cut(target, "#")
			if path == "" {
				path = filepath.Base(d.path)
			}
			full := filepath.Join(filepath.Dir(d.path), path)
			if _, err := os.Stat(filepath.Join(root(t), full)); err != nil {
				t.Errorf("%s: the link to %s leads to no file", d.path, target)
				continue
			}
			if anchor != "" && !anchors(readFile(t, full))[anchor] {
				t.Errorf("%s: the link to %s names a heading that does not exist", d.path, target)
			}
		}
	}
	if seen < 10 {
		t.Errorf("found only %d links", seen)
	}
}

// link matches the target of a Markdown link or image.
var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// tables returns the rows of a document's tables.
func (d *document) tables() string {
	var out strings.Builder
	for line := range strings.Lines(d.text) {
		if strings.HasPrefix(line, "|") {
			out.WriteString(line)
		}
	}
	return out.String()
}

// anchors returns the names by which GitHub links to the headings of a text.
func anchors(text string) map[string]bool {
	names := map[string]bool{}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			continue
		}
		heading := strings.ToLower(strings.TrimSpace(strings.TrimLeft(line, "#")))
		names[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return r
			}
			return -1
		}, heading)] = true
	}
	return names
}
