package cli

import "testing"

func TestBytes(t *testing.T) {
	for text, want := range map[string]Bytes{"0": 0, "1000": 1000, "512MiB": 512 << 20, "8GiB": 8 << 30, "3KiB": 3 << 10, "7B": 7} {
		var b Bytes
		if err := b.Set(text); err != nil || b != want {
			t.Errorf("%s: %d, %v", text, b, err)
		}
		var again Bytes
		if err := again.Set(b.String()); err != nil || again != b {
			t.Errorf("%s is printed %s", text, b.String())
		}
	}
	for _, bad := range []string{"", "x", "-1", "8GB", "9223372036854775807GiB", "1.5GiB"} {
		var b Bytes
		if b.Set(bad) == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}
