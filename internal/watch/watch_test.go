package watch

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/internal/atomicfile"
)

func TestDiff(t *testing.T) {
	for _, c := range []struct{ old, now, want string }{
		{"a b c", "a b c", ""},
		{"a b c", "a x c", "-b +x"},
		{"a b c d", "b c e d", "-a +e"},
		{"", "a", "- +a"},
		{"a a b", "a b", "-a"},
	} {
		var got []string
		for _, d := range Diff(strings.Split(c.old, " "), strings.Split(c.now, " ")) {
			got = append(got, map[bool]string{true: "+", false: "-"}[d.Added]+d.Line)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%q, %q: %q, want %q", c.old, c.now, s, c.want)
		}
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"k.ptx", "k.json", "x.bin", "other.ptx"} {
		write(t, name, "{}")
	}
	write(t, "launch.json", `{"entry": "k", "module": "other.ptx", "params": [{"buffer": "x.bin"}, {"zeros": 4}]}`)
	got := Files([]string{"exec", "k.ptx", "--launch=launch.json", "--check", "all"})
	if want := []string{"k.ptx", "k.json", "launch.json", "other.ptx", "x.bin"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestWatch(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "k.ptx", "one")
	var out strings.Builder
	runs := 0
	w := &Watcher{
		Args: []string{"gate", "k.ptx"}, Out: &out, Every: time.Millisecond, Runs: 3, Now: func() time.Time { return time.Unix(0, 0).UTC() },
		Mark: func(line string, _ bool) string { return line },
		Run: func(context.Context) (string, int, error) {
			text, err := os.ReadFile("k.ptx")
			runs++
			if runs < 3 { // a save after the first two runs
				next := "two, longer" + strings.Repeat("!", runs-1)
				time.AfterFunc(20*time.Millisecond, func() { atomicfile.Write("k.ptx", []byte(next)) })
			}
			return "head\n" + string(text) + "\nfoot\n", runs - 1, err
		},
	}
	if err := w.Watch(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"head\none\nfoot\n--- 00:00:00  exit code 0; waiting for a change of k.ptx\n", "- one\n+ two, longer\nthe exit code was 0 and is 1\n", "- two, longer\n+ two, longer!\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	if err := (&Watcher{Args: []string{"gate", "stage1"}}).Watch(t.Context()); err == nil || !strings.Contains(err.Error(), "nothing to watch") {
		t.Error(err)
	}
}
