package profile

import (
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/predict"
)

var (
	part      = flag.String("shard", "1/1", "with -full, validate part i of n parts of the problems, as i/n")
	tablePath = flag.String("table", "", "add each validated pair as a line of JSON to this file")
)

// shard is part of the validation. The designs of one problem are in the same part, because they are ranked.
type shard struct{ index, count uint32 }

func parseShard(t *testing.T) (s shard) {
	t.Helper()
	if n, err := fmt.Sscanf(*part, "%d/%d", &s.index, &s.count); n != 2 || err != nil || s.index < 1 || s.index > s.count {
		t.Fatalf("-shard %s: want i/n, such as 1/4", *part)
	}
	return s
}

// has reports whether a group of pairs is in this part.
func (s shard) has(group string) bool {
	h := fnv.New32a()
	h.Write([]byte(group))
	return h.Sum32()%s.count == s.index-1
}

func TestShardsHaveEveryPairOnce(t *testing.T) {
	parts := map[int]int{}
	for _, x := range append(stages(t), designs(t)...) {
		n := 0
		for i := range 4 {
			if (shard{uint32(i + 1), 4}).has(x.group()) {
				n++
				parts[i]++
			}
		}
		if n != 1 {
			t.Errorf("%s on %s is in %d parts", x.kernel, x.group(), n)
		}
	}
	if len(parts) != 4 {
		t.Errorf("pairs by part: %v", parts)
	}
}

// table is a file with one line of JSON per pair. A nil table has no file.
type table struct {
	t    *testing.T
	file *os.File
}

func newTable(t *testing.T) *table {
	t.Helper()
	if *tablePath == "" {
		return nil
	}
	f, err := os.OpenFile(*tablePath, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return &table{t, f}
}

// validated is a line of a table. Times are in microseconds.
type validated struct {
	Kernel    string             `json:"kernel"`
	Format    string             `json:"format"`
	Shape     string             `json:"shape"`
	Causal    bool               `json:"causal"`
	Measured  float64            `json:"measured_us"`
	Predicted float64            `json:"predicted_us"`
	Low       float64            `json:"low_us"`
	High      float64            `json:"high_us"`
	Error     float64            `json:"error"` // predicted / measured - 1
	Clock     int                `json:"mhz"`
	Blocks    int                `json:"blocks"`
	Units     map[string]float64 `json:"units"`
	Reasons   map[string]float64 `json:"reasons"`
}

func (b *table) add(x *pair, p *predict.Profile) {
	if b == nil {
		return
	}
	r := validated{
		Kernel: x.kernel, Format: string(x.p.Format), Shape: x.p.Shape.String(), Causal: x.p.Causal,
		Measured: x.measured, Predicted: x.predicted, Low: x.low, High: x.high, Error: x.off(), Clock: p.Clock, Blocks: p.Blocks,
		Units: map[string]float64{}, Reasons: map[string]float64{},
	}
	for _, u := range p.Units {
		r.Units[u.Unit.String()] = u.Micros
	}
	for _, s := range p.Reasons {
		r.Reasons[s.Reason] = s.Micros
	}
	if err := json.NewEncoder(b.file).Encode(&r); err != nil {
		b.t.Error(err)
	}
}
