package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/GOATnote-Inc/attest/internal/replicate"
)

var full = flag.Bool("full", false, "run all scripts, which takes minutes")

// TestMain makes this binary act as attest where attest starts itself: without it, a test
// that calls attest gate would run all tests again in another process, and so on.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == replicate.Command {
		main()
		return
	}
	testscript.Main(m, map[string]func(){"attest": main})
}

// TestScripts runs testdata/script/*.txtar: each holds commands, their input and
// what they must answer.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"jsonlines": jsonLines,
			"mode":      fileMode,
			"sarif":     sarifResults,
			"synthetic": syntheticEvidence,
			"hashes":    evidenceHashes,
		},
		Condition: func(name string) (bool, error) {
			if name != "full" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return *full, nil
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("ATTEST_SEED", "1") // the same inputs every time
			root, err := filepath.Abs("../..")
			e.Setenv("REPOSITORY", root)
			if cache, bad := os.UserCacheDir(); bad == nil { // for scripts that compile Go
				e.Setenv("GOCACHE", filepath.Join(cache, "go-build"))
			}
			return err
		},
	})
}

// jsonLines checks that a file is so many lines, each one a JSON object with
// exactly the keys: jsonlines stdout 2 file diagnostics
func jsonLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: jsonlines file count key...")
	}
	lines := strings.Split(strings.TrimSuffix(ts.ReadFile(args[0]), "\n"), "\n")
	if got := strconv.Itoa(len(lines)); got != args[1] {
		ts.Fatalf("%s lines of JSON, want %s", got, args[1])
	}
	for _, line := range lines {
		var object map[string]json.RawMessage
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			ts.Fatalf("%v in %s", err, line)
		}
		for _, key := range args[2:] {
			if _, ok := object[key]; !ok {
				ts.Fatalf("no key %q in %s", key, line)
			}
			delete(object, key)
		}
		if len(object) > 0 {
			ts.Fatalf("keys that nobody documented: %v", object)
		}
	}
}

// fileMode checks a file's permissions: mode kernel.ptx -rw-r-----
func fileMode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mode file -rwxrwxrwx")
	}
	info, err := os.Stat(filepath.Join(ts.Getenv("WORK"), args[0]))
	ts.Check(err)
	if got := info.Mode().String(); got != args[1] {
		ts.Fatalf("%s has mode %s, want %s", args[0], got, args[1])
	}
}

// sarifResults checks that a file is a SARIF log whose results have these rules, in
// their order: sarif log.sarif shared-race deadlock
func sarifResults(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: sarif file rule...")
	}
	var log struct {
		Version string `json:"version"`
		Runs    []struct {
			Results []struct {
				RuleID string `json:"ruleId"`
			} `json:"results"`
		} `json:"runs"`
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &log))
	if log.Version != "2.1.0" || len(log.Runs) != 1 || log.Runs[0].Results == nil {
		ts.Fatalf("%s is no SARIF log of one run", args[0])
	}
	var got []string
	for _, r := range log.Runs[0].Results {
		got = append(got, r.RuleID)
	}
	if want := strings.Join(args[1:], " "); strings.Join(got, " ") != want {
		ts.Fatalf("%s has results %q, want %q", args[0], got, want)
	}
}
