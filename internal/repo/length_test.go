package repo

import (
	"strings"
	"testing"
)

// The README must be readable in five minutes, so its number of words is limited: mostProse
// without code and tables, mostWords with them.
const (
	mostProse = 1000
	mostWords = 1875
)

func TestReadmeIsShort(t *testing.T) {
	d := open(t, "README.md")
	if n := len(strings.Fields(d.prose())); n > mostProse {
		t.Errorf("the README has %d words of prose, want at most %d: move a part to docs/", n, mostProse)
	}
	if n := len(strings.Fields(d.text)); n > mostWords {
		t.Errorf("the README has %d words, want at most %d: move a part to docs/", n, mostWords)
	}
}
