package calibrate

import (
	"context"
	"fmt"
	"time"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/timing"
)

// empty is a launch of a kernel that does nothing.
type empty struct {
	name          string
	waves         int // blocks per SM, one at a time if shared is large
	threads       int
	shared        int // bytes
	cluster       int
	blocksInstead int // blocks in all, in place of waves
}

const wholeSM = 200 << 10

var empties = []empty{
	{name: "launch_one_block", blocksInstead: 1, threads: 128},
	{name: "launch_us", waves: 1, threads: 128},
	{name: "launch_384_threads", waves: 1, threads: 384},
	{name: "launch_whole_sm", waves: 1, threads: 384, shared: wholeSM},
	{name: "launch_2_waves", waves: 2, threads: 384, shared: wholeSM},
	{name: "launch_4_waves", waves: 4, threads: 384, shared: wholeSM},
	{name: "launch_16_waves", waves: 16, threads: 384, shared: wholeSM},
	{name: "launch_clusters", waves: 1, threads: 384, shared: wholeSM, cluster: 2},
	{name: "launch_clusters_4_waves", waves: 4, threads: 384, shared: wholeSM, cluster: 2},
	{name: "launch_16_small_blocks", waves: 16, threads: 128},
}

// launches measures empty launches, replayed in a graph. The results are in microseconds.
func launches(ctx context.Context, dev device.Device) (list []Result, err error) {
	t, err := timing.New(dev)
	if err != nil {
		return nil, err
	}
	for _, e := range empties {
		r := Result{Name: e.name, Unit: "µs", Doc: e.String()}
		if r.Value, err = e.time(ctx, dev, t); err != nil {
			r.Error = err.Error()
		}
		list = append(list, r)
	}
	return list, nil
}

func (e empty) String() string {
	s := fmt.Sprintf("an empty kernel in a graph: %d blocks per SM of %d threads, %d bytes of shared memory", e.waves, e.threads, e.shared)
	if e.blocksInstead > 0 {
		s = fmt.Sprintf("an empty kernel in a graph: %d block of %d threads", e.blocksInstead, e.threads)
	}
	if e.cluster > 1 {
		s += fmt.Sprintf(", clusters of %d", e.cluster)
	}
	return s
}

func (e empty) time(ctx context.Context, dev device.Device, t *timing.Timer) (float64, error) {
	info := dev.Info()
	k := build.New("empty", info.Target)
	k.Strict()
	if !info.Target.Runs(ptx.SM90) && e.cluster > 1 {
		return 0, fmt.Errorf("%v has no clusters", info.Target)
	}
	if e.shared > 0 {
		k.DynamicShared(16)
	}
	text, err := k.PTX()
	if err != nil {
		return 0, err
	}
	m, err := dev.Load("empty.ptx", text)
	if err != nil {
		return 0, err
	}
	defer m.Close()
	kernel, err := m.Kernel("empty")
	if err != nil {
		return 0, err
	}
	blocks := e.waves * info.SMs
	if e.blocksInstead > 0 {
		blocks = e.blocksInstead
	}
	l := device.Launch{Grid: device.D(blocks), Block: device.D(e.threads), Cluster: device.D(max(e.cluster, 1)), Shared: min(e.shared, info.SharedMax)}
	timed, err := t.GraphReplay(ctx, timing.Launches(e.name, kernel, 0, l), timing.Warm, 0)
	if err != nil {
		return 0, err
	}
	run, err := timing.Interleave(ctx, timing.Plan{Stop: timing.Stop{Least: 20, Most: 60, Time: time.Second}}, timed)
	if err != nil {
		return 0, err
	}
	return run.Summary(0).P50, nil
}
