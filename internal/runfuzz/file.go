package runfuzz

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/launchfile"
	"github.com/GOATnote-Inc/attest/ptx"
)

// fileKernel is the kernel that mutants of launch files launch. It follows one pointer, and copies
// through a tensor map.
const fileKernel = `.version 8.4
.target sm_90a
.address_size 64
.global .u32 counter[4];
.func f { ret; }
.visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n)
{
	.reg .b64 %rd<4>;
	.reg .b32 %r<4>;
	ld.param.u64 %rd0, [p];
	ld.param.u64 %rd1, [q];
	ld.param.u32 %r0, [n];
	mov.u32 %r1, %tid.x;
	mad.wide.u32 %rd2, %r1, 4, %rd0;
	ld.global.u32 %r2, [%rd2];
	add.u32 %r2, %r2, %r0;
	mad.wide.u32 %rd3, %r1, 4, %rd1;
	st.global.u32 [%rd3], %r2;
	ret;
}
.visible .entry m(.param .align 64 .b8 map[128])
{
	.reg .b64 %rd<2>;
	.reg .b32 %r<2>;
	.shared .align 128 .b8 tile[1024];
	.shared .align 8 .b64 bar;
	mov.b64 %rd0, map;
	cvta.param.u64 %rd0, %rd0;
	mov.b32 %r0, tile;
	mov.b32 %r1, bar;
	mbarrier.init.shared.b64 [%r1], 1;
	cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%rd0, {0, 0}], [%r1];
	ret;
}
`

// launchFiles are the files from which mutants of launch files are made.
var launchFiles = []string{
	`{"entry": "k", "grid": [1, 1, 1], "block": [32, 1, 1], "cluster": [1, 1, 1], "shared": 0, "params": [
{"buffer": "x.bin"}, {"zeros": 256, "expect": "x.bin", "type": "u32", "ulp": 1}, {"u32": 7}]}`,
	`[{"entry": "k", "grid": [2], "block": [8, 2], "params": [
{"poison": 128, "undefined": true, "name": "a"}, {"ref": "a", "offset": 16, "save": "y.bin"}, {"f32": "0x7fc00000"}]},
{"entry": "k", "cooperative": true, "block": [4], "buffers": [{"name": "b", "zeros": 64, "pointers": [{"at": 8, "ref": "a"}, {"at": 16, "global": "counter"}, {"at": 24, "function": "f"}]}],
"globals": {"counter": {"bytes": "00112233"}},
"params": [{"ref": "b"}, {"global": "counter", "offset": 4}, {"i32": -1}]}]`,
	`{"entry": "m", "grid": [1], "block": [1], "cluster": [1], "params": [
{"tensormap": {"buffer": {"zeros": 4096}, "type": "f16", "dims": [64, 16], "strides": [128], "box": [32, 8], "element_strides": [1, 1], "swizzle": "none", "interleave": "none", "fill": "nan"}}]}`,
	`{"entry": "k", "block": [1], "params": [{"bytes": "0000000000000000", "pointers": [{"at": 0, "ref": "z"}]}, {"buffer": "x.bin", "name": "z", "type": "e4m3", "abs": 0.5, "rel": 1e-3, "expect": "x.bin"}, {"f16": "nan"}]}`,
}

// jsonWords are words that a change puts into a launch file.
var jsonWords = strings.Fields(`null true false [] {} "" "x" -1 1e99 1e-400 0.5 "0x" "0xffffffffffffffff" "inf" "-inf" "../x" "/dev/zero" "\u001b[31m" ` +
	`"k" "m" "f16" "bf16" "f32" "f64" "u8" "i64" "e5m2" "tf32" "128B" "64B" "32B" "none" "nan" "zeros" "poison" "buffer" "ref" "global" "function" "tensormap" "module" "memory" "im2col"`)

// File returns the launch file of a seed.
func File(seed uint64) string {
	r := random(seed, 3)
	words := split(launchFiles[r.IntN(len(launchFiles))])
	for range 1 + r.IntN(4) {
		words = changeFile(r, words)
	}
	return strings.Join(words, "")
}

// changeFile makes one change. Some words are single quotes or braces, so that it also damages the
// structure of the file.
func changeFile(r *rand.Rand, words []string) []string {
	i, j := r.IntN(len(words)), r.IntN(len(words))
	words = slices.Clone(words)
	switch r.IntN(6) {
	case 0:
		words[i] = jsonWords[r.IntN(len(jsonWords))]
	case 1:
		words[i], words[j] = words[j], words[i]
	case 2:
		return slices.Delete(words, i, min(len(words), i+1+r.IntN(6)))
	case 3:
		return slices.Insert(words, i, slices.Clone(words[j:min(len(words), j+1+r.IntN(12))])...)
	default:
		for k := range words {
			if n := (i + k) % len(words); isDigit(words[n][0]) {
				words[n] = numbers[r.IntN(len(numbers))]
				break
			}
		}
	}
	if len(words) == 0 {
		return []string{"{"}
	}
	return words
}

// RunFile runs the kernels of a launch file. The error is as that of Run.
func RunFile(ctx context.Context, file string, s Setting) (res Result, err error) {
	defer device.CatchBug(&err)
	f, err := launchfile.Parse("launch.json", []byte(file))
	if err != nil {
		return Result{}, nil
	}
	f.Files()
	w := &watch{off: !s.Launches[launches-1].Watch}
	dev, err := emu.New(ptx.SM90a, s.options(w))
	if err != nil {
		return Result{}, err
	}
	mod, err := dev.Load("k.ptx", fileKernel)
	if err != nil {
		return Result{}, err
	}
	defer mod.Close()
	r := &launchfile.Runner{
		Device: dev, Module: mod, Timeout: 50 * time.Millisecond, Keep: true, // a grid may have 2^31 blocks
		Load: func(name string) (device.Module, error) { return nil, errors.New("no file " + name) },
		Read: func(string) ([]byte, error) { return make([]byte, 256), nil },
		Save: func(string, []byte) error { return nil },
	}
	res = Result{Outcome: Unloaded}
	err = r.Run(ctx, f, func(got *launchfile.Result) {
		res.Outcome = Ran
		res.Launches++
		var bug *device.Bug
		if errors.As(got.Fault, &bug) {
			panic(bug)
		}
		for _, c := range got.Comparisons {
			_ = c.String()
		}
		got.Differs(got)
		w.render(fileKernel)
	})
	var bug *device.Bug
	if errors.As(err, &bug) {
		return res, err
	}
	return res, nil
}
