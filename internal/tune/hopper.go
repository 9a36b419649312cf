package tune

import (
	"reflect"
	"slices"

	"github.com/GOATnote-Inc/attest/kernels/attn/hopper"
)

// Hopper are the configurations of kernels/attn/hopper for a problem.
type Hopper struct{ Problem hopper.Problem }

// values are those of decisions that are numbers; fields that are not named here get
// the last.
var values = map[string][]int{
	"Warpgroups":  {1, 2, 3, 4},
	"TileN":       {64, 128, 192},
	"Stages":      {1, 2, 3, 4},
	"Split":       {1, 2},
	"Turns":       {0, 32, 64, 96, 128, 160, 192},
	"Polynomial":  {0, 4, 8, 16},
	"BlocksPerSM": {1, 2, 3},
	"":            {0, 1, 2, 4, 8, 16, 32},
}

// Neighbours are the configurations that differ in one decision and can compute the
// problem, in a fixed order; then the designs with names, which one decision at a time
// would not reach.
func (s Hopper) Neighbours(c hopper.Config) (list []hopper.Config) {
	add := func(n hopper.Config) {
		if n != c && !slices.Contains(list, n) && n.Check(s.Problem) == nil {
			list = append(list, n)
		}
	}
	for i, field := range reflect.VisibleFields(reflect.TypeFor[hopper.Config]()) {
		n := c
		at := reflect.ValueOf(&n).Elem().Field(i)
		if at.Kind() == reflect.Bool {
			at.SetBool(!at.Bool())
			add(n)
			continue
		}
		numbers := values[field.Name]
		if numbers == nil {
			numbers = values[""]
		}
		for _, v := range numbers {
			at.SetInt(int64(v))
			add(n)
		}
	}
	for _, d := range hopper.Designs() {
		add(d.Config(s.Problem, sms))
	}
	return list
}

// sms are the SMs of an H100 or H200.
const sms = 132
