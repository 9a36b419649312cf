package tensor

import "testing"

// TestNames: every kind and generation has its name, and the number after the last has none.
func TestNames(t *testing.T) {
	for k := range kinds {
		if k.String() == "" || k.String() == "Kind(?)" {
			t.Errorf("kind %d is called %q", uint8(k), k)
		}
	}
	if got := kinds.String(); got != "Kind(?)" {
		t.Errorf("no kind is called %q", got)
	}
	for a, want := range map[Arch]string{Ampere: "Ampere", Ada: "Ada", Hopper: "Hopper", Hopper + 1: "Arch(?)"} {
		if got := a.String(); got != want {
			t.Errorf("generation %d is called %q, want %q", uint8(a), got, want)
		}
	}
}

// TestIntegerKinds: both factors are whole numbers of one width.
func TestIntegerKinds(t *testing.T) {
	for kinds, ok := range map[[2]Kind]bool{
		{S8, U8}: true, {U8, U8}: true, {S4, U4}: true, {B1, B1}: true,
		{S8, S4}: false, {E4M3, S8}: false, {S8, E4M3}: false, {E4M3, E4M3}: false, {kinds, S8}: false, {S8, kinds}: false, {kinds, kinds}: false,
	} {
		if _, err := NewInteger(kinds[0], kinds[1], 0, false); (err == nil) != ok {
			t.Errorf("%v: %v", kinds, err)
		}
	}
}
