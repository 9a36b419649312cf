package shapes

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/problem"
)

func TestList(t *testing.T) {
	for text, want := range map[string]string{
		"mission":                      "mission",
		"mission,long":                 "mission;long",
		"mission,1,8,100,64,long":      "mission;1,8,100,64;long",
		"1,2,3,64;2,4/2,5,64":          "1,2,3,64;2,4/2,5,64",
		"1,8,512/100,64 small":         "1,8,512/100,64;small",
		"1,2,3,64,1,2,4,64,mission256": "1,2,3,64;1,2,4,64;mission256",
		"1,2,3,192/128,mission":        "1,2,3,192/128;mission",
	} {
		var l List
		if err := l.Set(text); err != nil || l.String() != want {
			t.Errorf("%s is %s, %v, want %s", text, l.String(), err, want)
		}
	}
	for text, want := range map[string]string{"1,2,3": "B,H,S,D", "misson": `did you mean "mission"`, "1,2,3,64,": "no shape", "0,1,1,64": "at least 1"} {
		var l List
		if err := l.Set(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestOne(t *testing.T) {
	var o One
	if err := o.Set("long"); err != nil || o.String() != "long" || Long(o.Named) != "long (1,8,2048,64)" {
		t.Errorf("%+v, %v", o, err)
	}
	if err := o.Set("1,32/4,512/2048,128"); err != nil || o.Shape != (problem.Shape{B: 1, Hq: 32, Hkv: 4, Sq: 512, Skv: 2048, D: 128}) || Long(o.Named) != "1,32/4,512/2048,128" {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestDefault(t *testing.T) {
	if n := Default(problem.HeadDim{}); Title(n) != "mission" {
		t.Errorf("%+v", n)
	}
	if n := Default(problem.HeadDim{D: 128}); Title(n) != "1,8,512,128" {
		t.Errorf("%+v", n)
	}
	if n := Default(problem.HeadDim{D: 64, DV: 32}); Title(n) != "1,8,512,64/32" {
		t.Errorf("%+v", n)
	}
}

func TestHeadDim(t *testing.T) {
	var to problem.HeadDim
	h := HeadDim{&to}
	if h.String() != "" {
		t.Errorf("the default is %q, want none", h.String())
	}
	for text, want := range map[string]problem.HeadDim{"128": {D: 128}, "192/128": {D: 192, DV: 128}, "64/64": {D: 64}} {
		if err := h.Set(text); err != nil || to != want {
			t.Errorf("%s: %+v, %v", text, to, err)
		}
	}
	for _, bad := range []string{"", "0", "-1", "64/", "64/0", "192/128/64", "x"} {
		if err := h.Set(bad); err == nil {
			t.Errorf("%q is a head dimension", bad)
		}
	}
}
