package cuda_test

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/cuda"
)

// The kernels that fault or hang are embedded, so that the test runs without other files.
//
//go:embed testdata/*.ptx
var texts embed.FS

func text(t *testing.T, name string) string {
	t.Helper()
	b, err := texts.ReadFile("testdata/" + name + ".ptx")
	check(t, err)
	return string(b)
}

// child is the environment variable that makes the test program a child process.
const child = "ATTEST_CUDA_CHILD"

// TestWrongKernels runs kernels that fault or hang, each in its own process, because a fault
// makes the context unusable. The process must report the error and end by itself.
func TestWrongKernels(t *testing.T) {
	gpu(t) // or skip
	for name, want := range map[string][]string{
		"illegal":    {"launch of illegal, grid (2, 1, 1) of blocks (32, 1, 1)", "CUDA_ERROR_ILLEGAL_ADDRESS", "the context is lost"},
		"misaligned": {"launch of misaligned", "CUDA_ERROR_MISALIGNED_ADDRESS", "the context is lost"},
		"trap":       {"launch of trap", "CUDA_ERROR_", "the context is lost"},
		"assert":     {"launch of assert", "CUDA_ERROR_ASSERT", "the context is lost"},
		"hang":       {"hang has not ended", "cannot be stopped"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestChild$", "-test.v")
			cmd.Env = append(os.Environ(), child+"="+name)
			out, err := cmd.CombinedOutput()
			t.Logf("%s", out)
			if err != nil {
				t.Fatalf("the process did not end by itself: %v", err)
			}
			for _, part := range append(want, "child: after it:", "child: closed") {
				if !strings.Contains(string(out), part) {
					t.Errorf("it did not say %q", part)
				}
			}
		})
	}
}

// TestChild is the test that the child processes run.
func TestChild(t *testing.T) {
	name := os.Getenv(child)
	if name == "" {
		t.Skip("for TestWrongKernels")
	}
	d, err := cuda.Open(0)
	check(t, err)
	k := loadKernel(t, d, name+".ptx", text(t, name), name)
	b, err := d.Alloc(64)
	check(t, err)
	check(t, b.Write(0, make([]byte, 64)))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	l := device.Launch{Grid: device.D(2), Block: device.D(32), Params: []device.Param{device.Ptr(b)}}
	err = k.Launch(ctx, l)
	kind := device.ErrLost
	if name == "hang" {
		kind = device.ErrRunning
	}
	if !errors.Is(err, kind) {
		t.Errorf("%v, want %v", err, kind)
	}
	var le *cuda.LaunchError
	if name != "hang" && (!errors.As(err, &le) || le.Kernel != name) {
		t.Errorf("%v names no kernel", err)
	}
	fmt.Printf("child: %v\n", err)
	err = b.Read(0, make([]byte, 64))
	if !errors.Is(err, kind) {
		t.Errorf("after it: %v, want %v", err, kind)
	}
	fmt.Printf("child: after it: %v\n", err)
	fmt.Printf("child: closed: %v\n", d.Close())
}

// TestSlowKernel checks that the device is usable again after a kernel that exceeded its time
// has ended.
func TestSlowKernel(t *testing.T) {
	d := gpu(t)
	k := loadKernel(t, d, "slow.ptx", slowText, "slow")
	b, err := d.Alloc(64)
	check(t, err)
	check(t, b.Write(0, make([]byte, 64)))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	l := device.Launch{Grid: device.D(1), Block: device.D(32), Params: []device.Param{device.Ptr(b)}}
	if err := k.Launch(ctx, l); !errors.Is(err, device.ErrRunning) {
		t.Fatal(err)
	}
	if err := b.Read(0, make([]byte, 4)); !errors.Is(err, device.ErrRunning) {
		t.Errorf("while it runs: %v", err)
	}
	time.Sleep(3 * time.Second)
	got := make([]byte, 4)
	if err := b.Read(0, got); err != nil || got[0] != 7 {
		t.Errorf("once it has ended: %v, %v", got, err)
	}
}

// slowText is a kernel that writes 7 after two seconds.
const slowText = `.version 7.0
.target sm_52
.address_size 64
.visible .entry slow(.param .u64 p)
{
	.reg .b64 %a, %s, %n;
	.reg .pred %q;
	ld.param.u64 %a, [p];
	mov.u64 %s, %globaltimer;
again:
	mov.u64 %n, %globaltimer;
	sub.u64 %n, %n, %s;
	setp.lt.u64 %q, %n, 2000000000;
	@%q bra again;
	st.global.u32 [%a], 7;
	ret;
}
`
