package frozen

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/GOATnote-Inc/attest/ptx/normal"
)

var (
	update = flag.Bool("update", false, "rewrite the golden files")
	full   = flag.Bool("full", false, "compare all variants, which takes a minute, and not every seventh")
)

const golden = "testdata/kernels.txt"

// variant is a kernel in one form. Its key names it in the golden file.
type variant struct {
	key   string
	write func() (text, launch string, err error)
}

// TestFrozen compares every seventh variant with the golden file, and all of them with -full.
func TestFrozen(t *testing.T) {
	if testing.Short() {
		t.Skip("writes hundreds of kernels")
	}
	want := map[string]string{}
	file, err := os.ReadFile(golden)
	if err != nil && !*update {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(file)) {
		key, is, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		want[key] = is
	}
	all := slices.Concat(stageVariants(), adaVariants(), hopperVariants(), decodeVariants())
	if !*full && !*update {
		all = everySeventh(all)
	}
	got := writeAll(t, all)
	if *update {
		save(t, got)
		return
	}
	for _, v := range all {
		switch is, known := want[v.key], want[v.key] != ""; {
		case !known:
			t.Errorf("%s is not in the golden file", v.key)
		case got[v.key] != is:
			t.Errorf("%s: got %s, the golden file has %s", v.key, got[v.key], is)
		}
	}
	if *full && len(want) != len(all) {
		t.Errorf("the golden file has %d kernels, but there are %d", len(want), len(all))
	}
}

func everySeventh(all []variant) (some []variant) {
	for i := 0; i < len(all); i += 7 {
		some = append(some, all[i])
	}
	return some
}

// writeAll returns one line per variant: the hash of its normal form and its launch.
func writeAll(t *testing.T, all []variant) map[string]string {
	var mu sync.Mutex
	var wg sync.WaitGroup
	got := map[string]string{}
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, v := range all {
		wg.Add(1)
		free <- struct{}{}
		go func() {
			defer func() { <-free; wg.Done() }()
			text, launch, err := v.write()
			line := "refused"
			if err == nil {
				var hash string
				if hash, err = normal.Hash(v.key, text); err == nil {
					line = hash[:16] + " " + launch
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if _, twice := got[v.key]; twice {
				t.Errorf("two variants are called %s", v.key)
			}
			got[v.key] = line
		}()
	}
	wg.Wait()
	return got
}

func save(t *testing.T, lines map[string]string) {
	var keys []string
	for key := range lines {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	var b bytes.Buffer
	for _, key := range keys {
		fmt.Fprintf(&b, "%s: %s\n", key, lines[key])
	}
	if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestPlantedChange checks that a change of one instruction changes the hash.
func TestPlantedChange(t *testing.T) {
	text, _, err := stageVariants()[0].write()
	if err != nil {
		t.Fatal(err)
	}
	at := strings.LastIndex(text, "fma.rn.f32")
	if at < 0 {
		t.Fatal("no fma.rn.f32 to change")
	}
	planted := text[:at] + "fma.rz.f32" + text[at+len("fma.rn.f32"):]
	before, err := normal.Hash("before", text)
	if err != nil {
		t.Fatal(err)
	}
	after, err := normal.Hash("after", planted)
	if err != nil {
		t.Fatal(err)
	}
	if before == after {
		t.Error("the hash does not depend on the rounding of an instruction")
	}
}
