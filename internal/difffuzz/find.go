package difffuzz

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/sorted"
)

// Find is a kernel on which two devices differ.
type Find struct {
	Seed uint64
	// Kernel is the shrunk kernel. Original is the generated kernel.
	Kernel, Original *Kernel
	Difference       *Difference
	First            *FirstDifference // nil if the difference disappears when every result is stored
	Expect           *Outcome         // the outcome of Kernel on the reference
	Repeats          int              // further kernels that probably have the same cause
	Path             string           // the folder to which the find was written
	// Reproduced is the number of the Runs runs of Kernel, alone in its module, in which the
	// devices differed. If it is 0, they differed only when Kernel ran together with the other
	// kernels of the batch, and Kernel is not shrunk.
	Reproduced int
	// Interrupted is set if the time ended before Kernel was fully shrunk.
	Interrupted bool
}

// shrink replaces Kernel with the shrunk kernel, if that kernel still shows the difference
// when it runs again.
func (f *Find) shrink(ctx context.Context, p *Pair) error {
	small, d, err := Shrink(ctx, p, f.Original, f.Difference)
	if err != nil {
		return err
	}
	f.Interrupted = ctx.Err() != nil
	seen, err := p.countReproduced(context.WithoutCancel(ctx), small, d.Kind)
	if err == nil && seen > 0 {
		f.Kernel, f.Difference, f.Reproduced = small, d, seen
	}
	return err
}

// Reproducibility says how often the kernel showed the difference when it ran again, and
// whether shrinking was interrupted.
func (f *Find) Reproducibility() string {
	s := fmt.Sprintf("alone in its module, the kernel differs in %d of %d runs", f.Reproduced, Runs)
	if f.Interrupted {
		s += "; the time ended before it was fully shrunk"
	}
	return s
}

// cause identifies the cause of a find: finds with equal causes count as one. It is the
// instruction whose result differs or, if no such instruction is known, the list of the
// remaining instructions.
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
	return f.Difference.Kind + " " + strings.Join(sorted.Keys(ops), " ")
}

// opcode returns an instruction without its guard and operands.
func opcode(inst string) string {
	op, _, _ := strings.Cut(strings.TrimLeft(inst, "@!%p0123456789 "), " ")
	return op
}

// Name returns the name of the find's folder.
func (f *Find) Name() string {
	return fmt.Sprintf("%s-%s-%d", f.Kernel.Target, f.Difference.Kind, f.Seed)
}

// Write writes the find to its own folder in dir: the kernel, its launch file and buffers
// for attest exec, and a README. It creates the folder completely or not at all.
func (f *Find) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(dir, ".find-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp) // has no effect after the rename
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
		panic(err) // cannot happen: the maps hold only numbers, strings and lists
	}
	files["launch.json"] = append(launch, '\n')
	return files
}

// hexText returns bytes as hexadecimal text, 32 bytes per line.
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
	fmt.Fprintf(&b, "%s.\n\n", strings.ToUpper(f.Reproducibility()[:1])+f.Reproducibility()[1:])
	if f.Interrupted {
		fmt.Fprintf(&b, "To shrink it:\n\n    attest fuzz --target %s --ptx %s --seed %d --kernels 1 --duration 10m --device DEVICE\n\n",
			f.Original.Target, f.Original.Version, f.Seed)
	}
	fmt.Fprintf(&b, "The kernel has %d of the %d instructions that seed %d generates for %s, PTX %s. Replay it with\n\n", f.Kernel.Size(), f.Original.Size(),
		f.Seed, f.Original.Target, f.Original.Version)
	fmt.Fprintf(&b, "    attest exec kernel.ptx --launch launch.json --device DEVICE\n\n")
	fmt.Fprintf(&b, "The expected values are the results of the reference.\n")
	return b.String()
}
