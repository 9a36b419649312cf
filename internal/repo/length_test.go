package repo

import (
	"strings"
	"testing"
)

// The most words that the README may have: people read it in the first five minutes.
const (
	mostProse = 1000
	mostWords = 2000
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
