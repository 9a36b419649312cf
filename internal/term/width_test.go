package term

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		want    []string
	}{
		{"", 40, nil},
		{"two words", 40, []string{"two words"}},
		{"it is cut between words and  spaces\nare one", 30, []string{"it is cut between words and", "spaces are one"}},
		{"never narrower than thirty columns", 5, []string{"never narrower than thirty", "columns"}},
		{"a " + strings.Repeat("x", 50) + " b", 30, []string{"a", strings.Repeat("x", 50), "b"}},
		{"µµµµµµµµµ µµµµµµµµµ µµµµµµµµµµ", 30, []string{"µµµµµµµµµ µµµµµµµµµ µµµµµµµµµµ"}},
	} {
		if got := Wrap(c.text, c.columns); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q in %d columns: %q, want %q", c.text, c.columns, got, c.want)
		}
	}
}

func TestWidthOfNoTerminal(t *testing.T) {
	if got := Width(&bytes.Buffer{}); got != Unlimited {
		t.Errorf("a buffer is %d columns wide", got)
	}
}
