package runfuzz

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/GOATnote-Inc/attest/internal/atomicfile"
	"github.com/GOATnote-Inc/attest/internal/english"
)

// Counts is what a campaign has run. A campaign keeps its counts in a file, and the counts of
// several campaigns can be added if no seed is in two of them.
type Counts struct {
	First    uint64  `json:"first"`    // the first seed
	End      uint64  `json:"end"`      // all seeds are below it
	Mutants  uint64  `json:"mutants"`  // texts and launch files that were tried to the end
	Files    uint64  `json:"files"`    // launch files among them
	Refused  uint64  `json:"refused"`  // mutants that an assembler refuses
	Unloaded uint64  `json:"unloaded"` // mutants that the emulator refuses
	Ran      uint64  `json:"ran"`      // mutants with at least one launch
	Launches uint64  `json:"launches"`
	Failures uint64  `json:"failures"`
	Seconds  float64 `json:"seconds"`
}

func (c Counts) String() string {
	return fmt.Sprintf("%s (%.0f/s; %s): %d refused, %d not loaded, %d run in %s (%.0f/s); %s",
		english.Count(c.Mutants, "mutant"), float64(c.Mutants)/c.Seconds, english.Count(c.Files, "launch file"), c.Refused, c.Unloaded, c.Ran,
		english.Count(c.Launches, "launch"), float64(c.Launches)/c.Seconds, english.Count(c.Failures, "failure"))
}

// countsPrefix starts the names of files with counts. The first seed follows.
const countsPrefix = "counts-"

// write writes the counts to a file in a folder, whose name has the first seed.
func (c Counts) write(folder string) error {
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(folder, countsPrefix+strconv.FormatUint(c.First, 10)+".json"), append(data, '\n'))
}

// Total adds the counts in the files of a folder. It refuses seeds that were counted twice. n is the
// number of campaigns.
func Total(folder string) (total Counts, n int, err error) {
	files, err := filepath.Glob(filepath.Join(folder, countsPrefix+"*.json"))
	if err != nil {
		return Counts{}, 0, err
	}
	var all []Counts
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return Counts{}, 0, err
		}
		var c Counts
		if err := json.Unmarshal(data, &c); err != nil {
			return Counts{}, 0, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Counts) int {
		if a.First < b.First {
			return -1
		}
		return 1
	})
	for i, c := range all {
		if i > 0 && c.First < total.End {
			return Counts{}, 0, fmt.Errorf("%s: campaigns with the first seeds %d and %d ran some of the same seeds: keep the counts of one of them", folder, all[i-1].First, c.First)
		}
		if i == 0 {
			total.First = c.First
		}
		total.End = c.End
		total.Mutants += c.Mutants
		total.Files += c.Files
		total.Refused += c.Refused
		total.Unloaded += c.Unloaded
		total.Ran += c.Ran
		total.Launches += c.Launches
		total.Failures += c.Failures
		total.Seconds += c.Seconds
	}
	return total, len(all), nil
}

// markOf returns the name of the file that holds the first seed of the batch that a worker runs.
func markOf(folder string, worker string) string {
	return filepath.Join(folder, "worker-"+worker+".seed")
}

// unended returns the first seeds of batches that an earlier campaign began and did not end, because
// its process was killed or crashed. It renames the files that hold them, so that they are returned once.
func unended(folder string) (seeds []uint64, err error) {
	files, err := filepath.Glob(markOf(folder, "*"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		seed, err := strconv.ParseUint(strings.TrimSpace(string(data)), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if err := os.Rename(file, filepath.Join(folder, fmt.Sprintf("unended-%d.seed", seed))); err != nil {
			return nil, err
		}
		seeds = append(seeds, seed)
	}
	slices.Sort(seeds)
	return seeds, nil
}

// resume sets the first seed, so that it is above all seeds of earlier campaigns with the same folder.
func (c *Campaign) resume() error {
	total, n, err := Total(c.Out)
	if err != nil {
		return err
	}
	seeds, err := unended(c.Out)
	if err != nil {
		return err
	}
	c.First = max(total.End, 1)
	for _, seed := range seeds {
		c.First = max(c.First, seed+batch)
	}
	if n > 0 {
		fmt.Fprintf(c.Log, "%s in %s: %v\n", english.Count(n, "earlier campaign"), c.Out, total)
	}
	if len(seeds) > 0 {
		fmt.Fprintf(c.Log, "an earlier campaign was killed or crashed; its batches of %d seeds began at %d. To see a crash again, set -first to each and -mutants to %d\n", batch, seeds, batch)
	}
	return nil
}

// counts returns what the campaign has run since its start.
func (c *Campaign) counts(start time.Time) Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := Counts{
		First: c.First, End: c.First + c.next.Load(), Files: c.files.Load(),
		Refused: c.outcomes[Refused].Load(), Unloaded: c.outcomes[Unloaded].Load(), Ran: c.outcomes[Ran].Load(),
		Launches: c.launches.Load(), Failures: uint64(c.failures), Seconds: time.Since(start).Seconds(),
	}
	n.Mutants = n.Refused + n.Unloaded + n.Ran
	return n
}
