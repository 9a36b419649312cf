package difffuzz

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Find is a kernel on which two devices differ.
type Find struct {
	Seed uint64
	// Kernel is the shrunk kernel, Original the generated one.
	Kernel, Original *Kernel
	Difference       *Difference
	First            *First   // nil when storing every result hides the difference
	Expect           *Outcome // what the reference gives for Kernel
	Repeats          int      // further kernels with the same cause, as far as can be told
	Path             string   // the folder it was written to
	// Seen is in how many of Runs runs of Kernel, alone in its module, the devices differed.
	// When it is 0 they did so only among the other kernels of the batch, and nothing is
	// shrunk.
	Seen int
	// Cut says that time was up before Kernel was as small as it gets.
	Cut bool
}

// shrink has Kernel be the shrunk one, if that shows the difference when it is run again.
func (f *Find) shrink(ctx context.Context, p *Pair) error {
	small, d, err := Shrink(ctx, p, f.Original, f.Difference)
	if err != nil {
		return err
	}
	f.Cut = ctx.Err() != nil
	seen, err := p.again(context.WithoutCancel(ctx), small, d.Kind)
	if err == nil && seen > 0 {
		f.Kernel, f.Difference, f.Seen = small, d, seen
	}
	return err
}

// Again says how surely the kernel shows the difference, and whether it was shrunk in full.
func (f *Find) Again() string {
	s := fmt.Sprintf("run again alone, it differs %d of %d times", f.Seen, Runs)
	if f.Cut {
		s += "; time was up before it was as small as it gets"
	}
	return s
}

// cause is by what finds count as the same: the instruction that gives another result
// or, where none is known to, the instructions that are left.
func (f *Find) cause() string {
	if f.First != nil {
		return f.Difference.Kind + " " + opcode(f.First.Inst)
	}
	ops := map[string]bool{}
	walk(f.Kernel.Body, func(n *Node) {
		for _, i := range n.Insts {
			ops[i.Op] = true
		}
	})
	return f.Difference.Kind + " " + strings.Join(slices.Sorted(maps.Keys(ops)), " ")
}

// opcode is an instruction without its guard and operands.
func opcode(inst string) string {
	op, _, _ := strings.Cut(strings.TrimLeft(inst, "@!%p0123456789 "), " ")
	return op
}

// Name is the folder of the find.
func (f *Find) Name() string {
	return fmt.Sprintf("%s-%s-%d", f.Kernel.Target, f.Difference.Kind, f.Seed)
}

// Write writes the find to a folder of its own in dir: the kernel, its launch file and
// buffers for attest exec, and a README. The folder is there in full or not at all.
func (f *Find) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(dir, ".find-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp) // nothing is there after the rename
	for name, data := range f.files() {
		if err := os.WriteFile(filepath.Join(tmp, name), data, 0o644); err != nil {
			return err
		}
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	path := filepath.Join(dir, f.Name())
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		return err
	}
	f.Path = path
	return nil
}

func (f *Find) files() map[string][]byte {
	l := f.Kernel.layout()
	blocks := f.Kernel.Grid.Norm().X
	d := f.Kernel.data(l, blocks)
	files := map[string][]byte{
		"kernel.ptx":   []byte(Text([]*Kernel{f.Kernel}, []string{"k"})),
		"original.ptx": []byte(Text([]*Kernel{f.Original}, []string{"k"})),
		"in.hex.txt":   hexText(d.In),
		"README.md":    []byte(f.readme()),
	}
	out := map[string]any{"poison": d.Out, "type": "u64"}
	expects := f.Expect != nil && f.Expect.Fault == ""
	if expects {
		out["expect"] = "out.hex.txt"
		files["out.hex.txt"] = hexText(f.Expect.Out)
	}
	params := []any{map[string]any{"buffer": "in.hex.txt"}, out}
	if d.Mem != nil {
		files["mem.hex.txt"] = hexText(d.Mem)
		mem := map[string]any{"buffer": "mem.hex.txt", "type": "u64"}
		if expects {
			mem["expect"] = "mem_out.hex.txt"
			files["mem_out.hex.txt"] = hexText(f.Expect.Mem)
		}
		params = append(params, mem)
	}
	if d.Par != nil {
		params = append(params, map[string]any{"bytes": hex.EncodeToString(d.Par)})
	}
	b := f.Kernel.Block.Norm()
	launch, err := json.MarshalIndent(map[string]any{
		"entry": "k", "grid": []int{blocks}, "block": []int{b.X, b.Y, b.Z}, "params": params,
	}, "", "  ")
	if err != nil {
		panic(err) // plain maps of plain values
	}
	files["launch.json"] = append(launch, '\n')
	return files
}

// hexText is bytes as text, 32 a line.
func hexText(data []byte) []byte {
	var b strings.Builder
	for at := 0; at < len(data); at += 32 {
		b.WriteString(hex.EncodeToString(data[at:min(at+32, len(data))]))
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

func (f *Find) readme() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", f.Name())
	fmt.Fprintf(&b, "%s\n\n", f.Difference)
	if f.First != nil {
		fmt.Fprintf(&b, "The first result that differs: %s\n\n", f.First)
	}
	fmt.Fprintf(&b, "%s.\n\n", strings.ToUpper(f.Again()[:1])+f.Again()[1:])
	if f.Cut {
		fmt.Fprintf(&b, "To shrink it:\n\n    attest fuzz --target %s --ptx %s --seed %d --kernels 1 --duration 10m --device DEVICE\n\n",
			f.Original.Target, f.Original.Version, f.Seed)
	}
	fmt.Fprintf(&b, "%d instructions of %d, from seed %d for %s, PTX %s. Replay it with\n\n", f.Kernel.Size(), f.Original.Size(),
		f.Seed, f.Original.Target, f.Original.Version)
	fmt.Fprintf(&b, "    attest exec kernel.ptx --launch launch.json --device DEVICE\n\n")
	fmt.Fprintf(&b, "What is expected is what the reference gives.\n")
	return b.String()
}
