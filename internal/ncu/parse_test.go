package ncu

import (
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	p, err := Parse([]byte(`==PROF== Connected to process 1
"ID","Process Name","Kernel Name","dram__throughput.avg.pct_of_peak_sustained_elapsed","gpu__time_duration.sum","sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active","sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active","sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active"
"","","","%","ns","%","%","%"
"0","attest","attn","3.5","1,234.5","41.25","12","20"
`))
	if err != nil {
		t.Fatal(err)
	}
	if p.Micros != 1.2345 || p.Tensor != 41.25 || p.Arithmetic != 20 || p.Memory != 3.5 || len(p.Metrics) != 5 {
		t.Errorf("%+v", p)
	}
	for text, want := range map[string]string{
		"==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n": "ERR_NVGPUCTRPERM",
		"":                         "no launch was profiled",
		"\"a__b\"\n\"%\"\n\"1\"\n": "no time",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestStalls wants shares of all states of warps, without those that are a part of others.
func TestStalls(t *testing.T) {
	p, err := Parse([]byte(`"Kernel Name","gpu__time_duration.sum","smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio","smsp__average_warps_issue_stalled_gmma_not_issued_per_issue_active.ratio","smsp__average_warps_issue_stalled_selected_per_issue_active.ratio","smsp__average_warps_issue_stalled_wait_per_warp_active.pct"
"","us","inst","inst","inst","%"
"attn","2","3","2.5","1","99"
`))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Stalls) != 2 || p.Stalls["gmma"] != 75 || p.Stalls["selected"] != 25 {
		t.Errorf("%v", p.Stalls)
	}
}

// TestArguments wants an entry to be matched as a whole and as it is spelled.
func TestArguments(t *testing.T) {
	args := arguments("attn.v2", nil)
	if i := slices.Index(args, "--kernel-name"); i < 0 || args[i+1] != `regex:^attn\.v2$` {
		t.Errorf("%q", args)
	}
}

// TestMetrics wants metrics to be passed on, and those that ncu does not give to be named.
func TestMetrics(t *testing.T) {
	asked := []string{"sm__cycles_elapsed", "dram__bytes_read.sum", "lts__nothing.sum"}
	args := arguments("attn", asked)
	if i := slices.Index(args, "--metrics"); i < 0 || args[i+1] != "sm__cycles_elapsed,dram__bytes_read.sum,lts__nothing.sum" {
		t.Errorf("%q", args)
	}
	p, err := Parse([]byte(`"Kernel Name","gpu__time_duration.sum","sm__cycles_elapsed.avg","sm__cycles_elapsed.max","dram__bytes_read.sum","lts__odd.sum"
"","us","cycle","cycle","byte",""
"attn","2","1,000","1,100","4096","nan"
`))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Missing(asked); !slices.Equal(got, asked[2:]) {
		t.Errorf("missing %q", got)
	}
	if got := p.Matching(asked[0]); len(got) != 2 || p.Metrics[got[1]] != 1100 || p.Units[got[1]] != "cycle" {
		t.Errorf("%q in %v %v", got, p.Metrics, p.Units)
	}
	if _, ok := p.Metrics["lts__odd.sum"]; ok {
		t.Error("NaN is a number")
	}
	for _, name := range []string{"", "cycles", "sm__a b", "--export"} {
		if CheckMetrics([]string{name}) == nil {
			t.Errorf("%q is a metric", name)
		}
	}
	if err := CheckMetrics(asked); err != nil {
		t.Error(err)
	}
}
