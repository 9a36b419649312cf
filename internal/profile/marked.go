package profile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/build/marks"
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

const (
	// marksPerWarp is the number of marks that a warp records; later ones are left out.
	marksPerWarp = 128
	// mostMarkedBlocks limits the blocks of a trace, so that a browser can show it.
	mostMarkedBlocks = 264
	// recordedRuns is the number of runs on a GPU. The last one, with warm caches, is shown.
	recordedRuns = 3
)

// Record runs a kernel with marks on a device and writes what the warps of its first launch did as trace events. A nil device
// is the emulator, whose clock counts instructions: one counts as a nanosecond. The kernel has no code for marks: they are
// inserted into its PTX.
func Record(ctx context.Context, dev device.Device, s *lab.Subject, shape problem.Shape, w io.Writer) error {
	k, m, err := withMarks(s.Kernel)
	if err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	marked := *s
	marked.Kernel = k
	mhz, times := 1000.0, 1
	if dev != nil && dev.Info().Driver == "cuda" {
		mhz, times = float64(max(dev.Info().Clock, 1)), recordedRuns
	}
	l, data, err := lab.Record(ctx, dev, &marked, shape, times, marks.Param)
	if err != nil {
		return err
	}
	warps, err := m.Read(data, l.Grid.Count(), l.Block.Count())
	if err != nil {
		return err
	}
	warps = slices.DeleteFunc(warps, func(x marks.Warp) bool { return x.Block >= mostMarkedBlocks })
	return marks.WriteTrace(w, warps, mhz)
}

// withMarks returns a copy of a kernel whose first launch records marks in a workspace.
func withMarks(k *kernel.Kernel) (*kernel.Kernel, *marks.Marks, error) {
	first := k.Launches[0]
	uses := 0
	for _, l := range k.Launches {
		if l.Entry == first.Entry {
			uses++
		}
	}
	if uses > 1 || !first.When.IsZero() {
		return nil, nil, errors.New("marks need a first launch that is never skipped and whose entry is launched once")
	}
	module, err := parse.Parse(k.Name+".ptx", k.PTX)
	if err != nil {
		return nil, nil, err
	}
	m, err := marks.Insert(module, first.Entry, marksPerWarp)
	if err != nil {
		return nil, nil, err
	}
	// One warp of one block: Bytes is linear in the blocks and in the warps of a block.
	size, err := expr.Parse(fmt.Sprintf("%s*cdiv(%s, 32)*%d", product(first.Grid), product(first.Block), m.Bytes(1, 32)/8))
	if err != nil {
		return nil, nil, err
	}
	c := *k
	c.PTX = module.String()
	c.Operands = append(slices.Clone(k.Operands), kernel.Operand{Name: marks.Param, Type: "u64", Role: kernel.Workspace, Dims: []expr.Expr{size}, Init: kernel.Zero})
	c.Launches = slices.Clone(k.Launches)
	c.Launches[0].Args = append(slices.Clone(first.Args), kernel.Arg{Pointer: marks.Param})
	return &c, m, nil
}

// product returns the product of extents as the text of an expression.
func product(extents []expr.Expr) string {
	list := []string{"1"}
	for _, e := range extents {
		list = append(list, "("+e.String()+")")
	}
	return strings.Join(list, "*")
}
