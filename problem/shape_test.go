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
		"1,8,512,64":        Square(1, 8, 512, 64),
		"2, 8/2, 1/77, 64":  {B: 2, Hq: 8, Hkv: 2, Sq: 1, Skv: 77, D: 64},
		"1,16,4096,192/128": {B: 1, Hq: 16, Hkv: 16, Sq: 4096, Skv: 4096, D: 192, DV: 128},
		"1,16,4096,128/128": Square(1, 16, 4096, 128),
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
		"":            "no shape",
		"medium":      "small, mission, mission256, long",
		"1,2,3,0":     "such as 128",
		"1,2,3":       "give B,H,S,D",
		"1,2,x,64":    `"x" is not a number`,
		"1/2,2,3,64":  "the same batch",
		"1,2,3,64/0":  "such as 192/128",
		"1,2,3,64/-8": "such as 192/128",

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
	s := Shape{B: 1, Hq: 4, Hkv: 2, Sq: 3, Skv: 5, D: 6, DV: 10}
	if f := s.FLOP(); f != 2*4*3*5*6+2*4*3*5*10 {
		t.Errorf("%v operations with two head dimensions", f)
	}
	if q, k, v, o := s.Q().String(), s.K().String(), s.V().String(), s.O().String(); q != "[1,4,3,6]" || k != "[1,2,5,6]" || v != "[1,2,5,10]" || o != "[1,4,3,10]" {
		t.Errorf("Q %s, K %s, V %s, O %s", q, k, v, o)
	}
	if s.WithHeadDim(HeadDim{8, 8}) != s.WithHeadDim(HeadDim{D: 8}) {
		t.Error("a shape with one head dimension has two forms")
	}
}
