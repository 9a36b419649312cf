package problem

import (
	"strings"
	"testing"
)

func TestShapes(t *testing.T) {
	for _, n := range Shapes() {
		got, err := ParseShape(n.Name)
		if err != nil || got != n.Shape {
			t.Errorf("%s: %v %v", n.Name, got, err)
		}
	}
	for text, want := range map[string]Shape{
		"1,8,512,64":       Square(1, 8, 512, 64),
		"2, 8/2, 1/77, 64": {2, 8, 2, 1, 77, 64},
	} {
		got, err := ParseShape(text)
		if err != nil || got != want {
			t.Errorf("%s: %v %v", text, got, err)
		}
		if back, err := ParseShape(got.String()); err != nil || back != want {
			t.Errorf("%s comes back as %v, %v", got, back, err)
		}
	}
	for text, want := range map[string]string{
		"":             "no shape",
		"medium":       "small, mission, mission256, long",
		"1,2,3":        "give B,H,S,D",
		"1,2,x,64":     `"x" is not a number`,
		"1/2,2,3,64":   "only heads and rows",
		"1,8/3,512,64": "evenly",
		"1,8,0,64":     "at least 1",
	} {
		if _, err := ParseShape(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if f := Square(1, 8, 2048, 64).FLOP(); f != 4*8*2048*2048*64 {
		t.Errorf("%v operations", f)
	}
}
