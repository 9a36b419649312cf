package campaign

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/internal/shapes"
	"github.com/GOATnote-Inc/attest/kernels/attn/hopper"
	"github.com/GOATnote-Inc/attest/problem"
)

// TestLadder wants kernels left out that the flags exclude: stages are not causal, and the kernels
// for Ada and Hopper have no u8.
func TestLadder(t *testing.T) {
	for _, c := range []struct {
		chosen      Selection
		first, last string
	}{
		{Selection{}, "stage0", "hopper"},
		{Selection{Format: "e4m3"}, "stage0", "hopper"},
		{Selection{Format: "u8"}, "stage0", "stage5-persistent"},
		{Selection{Causal: true}, "ada", "hopper"},
	} {
		list, err := (&Gate{Selection: c.chosen}).ladder()
		if err != nil || list[0].Name != c.first || list[len(list)-1].Name != c.last {
			t.Errorf("%+v: %v", c.chosen, err)
		}
	}
	if _, err := (&Gate{Selection: Selection{Format: "u8", Causal: true}}).ladder(); err == nil {
		t.Error("there is a causal kernel of u8")
	}
}

// newBench returns a bench over shapes with valid flags.
func newBench(t *testing.T, text string) *Bench {
	t.Helper()
	x := &Bench{Samples: 1, Time: time.Second, Modes: []string{"graph"}, Caches: []string{"warm"}}
	if err := x.Shapes.Set(text); err != nil {
		t.Fatal(err)
	}
	return x
}

// TestBatches wants the shapes of one text to be grouped, both in bench and in gate.
func TestBatches(t *testing.T) {
	x := newBench(t, "mission,mission256,long,big64,huge64,big128,huge128,1,8/1,512,64")
	for name, want := range map[string]string{
		"hopper":            byDesign(x.Shapes),
		"stage3b":           "mission;mission256;long;big64;huge64;1,8/1,512,64|big128;huge128",
		"hopper-throughput": "mission;mission256|long;big64;huge64|big128;huge128|1,8/1,512,64", // by the number of keys, too
	} {
		list, err := x.prepare([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, b := range list {
			got = append(got, b.shapes.String())
			if b.subjects[0].Config["head_dim"] != strconv.Itoa(b.shapes[0].Shape.D) {
				t.Errorf("%s: a kernel of D = %s for %v", name, b.subjects[0].Config["head_dim"], b.shapes)
			}
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s: %s, want %s", name, strings.Join(got, "|"), want)
		}
		jobs, err := (&Gate{Shapes: x.Shapes, Plan: "smoke"}).prepare([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		got = nil
		for _, j := range jobs {
			got = append(got, j.shapes.String())
		}
		if strings.Join(got, "|") != want {
			t.Errorf("gate %s: %s, want %s", name, strings.Join(got, "|"), want)
		}
	}
}

// byDesign groups shapes by the configuration that hopper chooses for them.
func byDesign(list shapes.List) string {
	var keys, groups []string
	for _, n := range list {
		s := n.Shape
		key := fmt.Sprint(s.D, s.Hq == s.Hkv, hopper.Choose(problem.Attention{Shape: s}.Filled(), 132))
		i := slices.Index(keys, key)
		if i < 0 {
			keys, groups = append(keys, key), append(groups, shapes.Title(n))
			continue
		}
		groups[i] += ";" + shapes.Title(n)
	}
	return strings.Join(groups, "|")
}

// TestLeftOut wants a kernel left out on the shapes that it does not support, with the
// reason, and refused if it supports none; and no kernel timed against its own text.
func TestLeftOut(t *testing.T) {
	list, err := newBench(t, "1,8,777,64,1,8,777,128").prepare([]string{"hopper-pair", "hopper-two-pairs", "hopper-pair"})
	if err != nil || len(list) != 2 {
		t.Fatalf("%d groups, %v", len(list), err)
	}
	if len(list[0].left) != 0 || len(list[0].subjects) != 3 { // a kernel that is named twice shows the noise
		t.Errorf("D = 64: %+v", list[0])
	}
	if b := list[1]; len(b.subjects) != 2 || len(b.left) != 1 || b.left[0].name != "hopper-two-pairs" || !strings.Contains(b.left[0].why, "head dimension 128") {
		t.Errorf("D = 128: %+v", b)
	}
	list, err = newBench(t, "big128").prepare([]string{"hopper-three", "hopper-throughput", "hopper-latency"})
	if err != nil || len(list) != 1 || len(list[0].subjects) != 2 || len(list[0].left) != 1 || list[0].left[0].why != "it has the same PTX as hopper-three here" {
		t.Errorf("%+v, %v", list, err)
	}
	for _, names := range [][]string{{"hopper-pair", "hopper-two-pairs"}, {"hopper-two-pairs"}, {"hopper-pair", "nothing"}} {
		if _, err := newBench(t, "big128").prepare(names); err == nil {
			t.Errorf("%q: not refused", names)
		}
	}
	if _, err := newBench(t, "mission,big128").prepare([]string{"hopper-two-pairs", "hopper-pair"}); err == nil {
		t.Error("there is no baseline for big128")
	}
}
