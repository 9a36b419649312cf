package parse_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// corpus returns the paths of all PTX files under testdata.
func corpus(t testing.TB) []string {
	t.Helper()
	var files []string
	for _, dir := range []string{"testdata/*.ptx", "testdata/*/*.ptx"} {
		fs, err := filepath.Glob(dir)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, fs...)
	}
	if len(files) == 0 {
		t.Fatal("testdata holds no PTX")
	}
	return files
}

// testName returns the path of a file below testdata.
func testName(file string) string {
	return strings.TrimPrefix(filepath.ToSlash(file), "testdata/")
}

func read(t testing.TB, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func mustParse(t testing.TB, file, src string) *ptx.Module {
	t.Helper()
	m, err := parse.Parse(file, src)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return m
}

// TestRoundTrip checks that a module is the same after it is printed and parsed again.
func TestRoundTrip(t *testing.T) {
	for _, file := range corpus(t) {
		t.Run(testName(file), func(t *testing.T) {
			m := mustParse(t, file, read(t, file))
			checkStable(t, m)
		})
	}
}

func checkStable(t testing.TB, m *ptx.Module) {
	t.Helper()
	text := m.String()
	again, err := parse.Parse("printed.ptx", text)
	if err != nil {
		t.Fatalf("the printed text does not parse: %v\n%s", err, text)
	}
	if a, b := dump(m), dump(again); a != b {
		t.Errorf("the printed text gives a different module:\n%s", firstDifference(a, b))
	}
	if text != again.String() {
		t.Errorf("printing the printed text changes it:\n%s", firstDifference(text, again.String()))
	}
}

func firstDifference(a, b string) string {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range as {
		if i >= len(bs) || as[i] != bs[i] {
			other := "(end)"
			if i < len(bs) {
				other = bs[i]
			}
			return "- " + as[i] + "\n+ " + other
		}
	}
	return "+ " + strings.Join(bs[len(as):], "\n")
}
