package observe

import "testing"

func TestSourceName(t *testing.T) {
	for name, want := range map[string]string{
		"tile":                            "tile",
		"_ZZ1kPfE4tile":                   "tile",
		"_ZZ1kPfE4tile_0":                 "tile",
		"_ZZ4ringILb0ELb1EEvPKiPiiE1s":    "s",
		"_ZZ4ringILb0ELb1EEvPKiPiiE4full": "full",
		"_ZZN3foo3barEvE5array":           "array",
		"_ZZ1kPfE9tile":                   "_ZZ1kPfE9tile",
		"_ZZ":                             "_ZZ",
		"_Z1kPf":                          "_Z1kPf",
	} {
		if got := SourceName(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}
