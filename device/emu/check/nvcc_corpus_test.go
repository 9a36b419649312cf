package check_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/device/launchfile"
	"github.com/GOATnote-Inc/attest/finding"
)

// The corpus of CUDA: testdata/nvcc/NAME.cu as nvcc 12.4 compiles it, with its
// defects (-DBUG: NAME.bug.ptx) and without (NAME.ptx); NAME.json launches its
// kernels. In the source,
//
//	// BUG: KIND[|KIND] [any]   marks where the defect of the kernel is reported
//	// OTHER                    marks the other access of a race
//
// Marks outside their kernels name them: BUG(kernel, kernel): KIND.

const nvccDir = "testdata/nvcc"

var (
	kernelLine = regexp.MustCompile(`^extern "C" __global__ void (?:__cluster_dims__\(\d\) )?(\w+)\(`)
	bugMark    = regexp.MustCompile(`// BUG(?:\(([\w, ]+)\))?: (\S+( any)?)`)
	otherMark  = regexp.MustCompile(`OTHER(?:\(([\w, ]+)\))?`)
)

// consequences are the kinds of findings that a defect of a kind may cause.
var consequences = map[finding.Kind][]finding.Kind{
	check.AsyncRace:         {check.AsyncLeak, check.MbarrierMisuse, check.Deadlock},
	check.MbarrierMisuse:    {check.Deadlock, check.SharedRace},
	check.SharedRace:        {check.BarrierDivergence},
	check.BarrierDivergence: {check.SharedRace, check.UninitShared},
	check.OOBGlobal:         {check.OOBGlobal, check.GlobalRace},
	check.OOBShared:         {check.OOBShared},
	check.OOBLocal:          {check.OOBLocal},
	check.Misaligned:        {check.Misaligned},
}

// sourceMarks returns the expectations for the kernels of a source.
func sourceMarks(t *testing.T, name string) map[string]*expectation {
	t.Helper()
	text := string(readNvcc(t, name+".cu"))
	all, others := map[string]*expectation{}, map[string][]string{}
	kernel, n := "", 0
	for line := range strings.Lines(text) {
		n++
		at := name + ".cu:" + strconv.Itoa(n)
		if m := kernelLine.FindStringSubmatch(line); m != nil {
			kernel = m[1]
		}
		if m := bugMark.FindStringSubmatch(line); m != nil {
			for _, of := range owners(m[1], kernel) {
				if all[of] == nil {
					all[of] = newExpectation(t, m[2])
				}
				all[of].here = append(all[of].here, at)
			}
		}
		if m := otherMark.FindStringSubmatch(line); m != nil {
			for _, of := range owners(m[1], kernel) {
				others[of] = append(others[of], at)
			}
		}
	}
	for kernel, e := range all {
		e.other = others[kernel]
		e.where = sourceLine
		for _, k := range e.kinds {
			e.also = append(e.also, consequences[k]...)
		}
	}
	return all
}

// owners returns the kernels of a mark: those that it names, or the kernel around it.
func owners(named, kernel string) []string {
	if named == "" {
		return []string{kernel}
	}
	return strings.Split(named, ", ")
}

// sourceLine returns "file.cu:12" for a place.
func sourceLine(a *finding.Place) string {
	at := strings.LastIndexByte(a.Source, ':')
	if at < 0 {
		return ""
	}
	return filepath.Base(a.Source[:at])
}

func readNvcc(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(nvccDir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestNvccCorpus: typical defects of CUDA programs are found at their source lines, and the
// correct kernels have no findings.
func TestNvccCorpus(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, and long")
	}
	files, err := filepath.Glob(filepath.Join(nvccDir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		launches, err := launchfile.Parse(name+".json", readNvcc(t, name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		expected := sourceMarks(t, name)
		if len(expected) != len(launches.Launches) {
			t.Errorf("%s: %d kernels are marked, %d launched", name, len(expected), len(launches.Launches))
		}
		bug, twin := string(readNvcc(t, name+".bug.ptx")), string(readNvcc(t, name+".ptx"))
		for i, l := range launches.Launches {
			t.Run(name+"/"+l.Entry, func(t *testing.T) {
				t.Parallel()
				e := expected[l.Entry]
				if e == nil {
					t.Fatalf("no line of %s is marked as a defect", l.Entry)
				}
				one := &launchfile.File{Launches: launches.Launches[i : i+1]}
				e.judge(t, 0, watch(t, bug, one, nvccFile, 0))
				noAlarm(t, 0, watch(t, twin, one, nvccFile, 0))
			})
		}
	}
}

func nvccFile(name string) ([]byte, error) { return os.ReadFile(filepath.Join(nvccDir, name)) }
