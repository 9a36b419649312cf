package ncu

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// Profile is what Nsight Compute measured. Tensor, Arithmetic and Memory are in per cent of
// the peak.
type Profile struct {
	Micros     float64 `json:"us"`
	Tensor     float64 `json:"tensor"`
	Arithmetic float64 `json:"arithmetic"`
	Memory     float64 `json:"memory"`
	// Stalls is where the time of warps goes, in per cent, by the names of ncu such as "long_scoreboard". "selected" is
	// the time in which they issue.
	Stalls  map[string]float64 `json:"stalls"`
	Metrics map[string]float64 `json:"metrics"` // every metric, by the name that ncu gives it
	Units   map[string]string  `json:"units"`   // the units of the metrics that have a unit
	Version string             `json:"version"` // the version of ncu

	Flags []string `json:"-"` // the flags of ncu, without the file that it writes
	Raw   string   `json:"-"` // the table as ncu wrote it
}

// These patterns select the metrics of each unit. The largest metric of a unit counts.
var (
	tensor     = regexp.MustCompile(`pipe_tensor.*pct`)
	arithmetic = regexp.MustCompile(`(pipe_(xu|alu|fma|fmaheavy|fp16)|issue_active|inst_issued).*pct`)
	memory     = regexp.MustCompile(`(dram__throughput|l1tex__data_(pipe|bank)|lts__t_sectors|memory_throughput).*pct`)
)

// stalled matches the cycles that a warp spends in a state per instruction that it issues.
var stalled = regexp.MustCompile(`^smsp__average_warps_issue_stalled_(\w+)_per_issue_active\.ratio$`)

// stalls returns the shares of the states of warps in per cent.
func (p *Profile) stalls() {
	p.Stalls = map[string]float64{}
	total := 0.0
	for name, v := range p.Metrics {
		// States that end in _not_issued are a part of the states without it.
		if m := stalled.FindStringSubmatch(name); m != nil && !strings.HasSuffix(m[1], "_not_issued") {
			p.Stalls[m[1]] = v
			total += v
		}
	}
	for name := range p.Stalls {
		p.Stalls[name] *= 100 / max(total, 1e-12)
	}
}

// Parse reads the raw page as CSV: a row of names, a row of units, and one row per launch.
func Parse(text []byte) (*Profile, error) {
	var table bytes.Buffer
	var said []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, `"`) {
			table.WriteString(line)
		} else if strings.Contains(line, "ERROR") {
			said = append(said, strings.Trim(strings.TrimSpace(line), "= "))
		}
	}
	rows, err := csv.NewReader(&table).ReadAll()
	if err != nil || len(rows) < 3 {
		return nil, fmt.Errorf("ncu wrote no table: %s", strings.Join(append(said, "no launch was profiled"), "; "))
	}
	p := &Profile{Metrics: map[string]float64{}, Units: map[string]string{}, Raw: string(text)}
	names, units, row := rows[0], rows[1], rows[2]
	for i, name := range names {
		v, err := strconv.ParseFloat(strings.ReplaceAll(row[i], ",", ""), 64)
		if err != nil || !strings.Contains(name, "__") || math.IsNaN(v) || math.IsInf(v, 0) {
			continue // not a metric, or not measured
		}
		p.Metrics[name] = v
		if units[i] != "" {
			p.Units[name] = units[i]
		}
		switch {
		case name == "gpu__time_duration.sum":
			p.Micros = v * micros(units[i])
		case tensor.MatchString(name):
			p.Tensor = max(p.Tensor, v)
		case arithmetic.MatchString(name):
			p.Arithmetic = max(p.Arithmetic, v)
		case memory.MatchString(name):
			p.Memory = max(p.Memory, v)
		}
	}
	if p.Micros == 0 {
		return nil, errors.New("ncu wrote no time")
	}
	p.stalls()
	return p, nil
}

// Missing returns the metrics that were asked for and that ncu did not give.
func (p *Profile) Missing(asked []string) (missing []string) {
	for _, name := range asked {
		if len(p.Matching(name)) == 0 {
			missing = append(missing, name)
		}
	}
	return missing
}

// Matching returns the metrics that a name stands for, sorted. A name without a suffix such as
// .avg stands for all metrics that begin with it.
func (p *Profile) Matching(name string) (names []string) {
	for have := range p.Metrics {
		if have == name || strings.HasPrefix(have, name+".") {
			names = append(names, have)
		}
	}
	sort.Strings(names)
	return names
}

// micros returns the length of a unit of time in microseconds.
func micros(unit string) float64 {
	switch unit {
	case "ns", "nsecond":
		return 1e-3
	case "ms", "msecond":
		return 1e3
	case "s", "second":
		return 1e6
	}
	return 1
}
