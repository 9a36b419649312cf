package sorted

import (
	"cmp"
	"slices"
	"testing"
)

func TestBy(t *testing.T) {
	list := []string{"cc", "a", "bb", "b", "aa", "c"}
	By(list, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	if want := []string{"cc", "bb", "aa", "a", "b", "c"}; !slices.Equal(list, want) {
		t.Errorf("sorted by descending length: %q, want %q: equal lengths keep their order", list, want)
	}
}

func TestKeys(t *testing.T) {
	if got, want := Keys(map[string]int{"b": 1, "c": 0, "a": 2}), []string{"a", "b", "c"}; !slices.Equal(got, want) {
		t.Errorf("keys %q, want %q", got, want)
	}
	if got, want := Keys(map[int]bool{10: true, -1: true, 9: false}), []int{-1, 9, 10}; !slices.Equal(got, want) {
		t.Errorf("keys %v, want %v", got, want)
	}
	if got := Keys(map[int]bool(nil)); len(got) != 0 {
		t.Errorf("keys of a nil map: %v", got)
	}
}
