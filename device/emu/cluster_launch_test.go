package emu

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestCompiledCluster checks that a kernel compiled for clusters runs in clusters even if the
// launch does not ask for them.
func TestCompiledCluster(t *testing.T) {
	text := strings.Replace(kernelText(`
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %cluster_ctarank;
	mov.u32 %r3, %cluster_nctarank;
	mad.lo.u32 %r2, %r2, 16, %r3;
	mad.wide.u32 %rd1, %r1, 4, %rd0;
	st.global.u32 [%rd1], %r2;`), "out)", "out)\n.explicitcluster\n.reqnctapercluster 2, 1, 1", 1)
	d := deviceFor(t, ptx.SM90a, Options{})
	b, err := d.Alloc(16)
	if err != nil {
		t.Fatal(err)
	}
	for _, cluster := range []device.Dim{{}, device.D(1), device.D(2)} {
		if err := launchText(t, d, text, device.Launch{Grid: device.D(4), Block: device.D(1), Cluster: cluster, Params: []device.Param{device.Ptr(b)}}); err != nil {
			t.Fatalf("cluster %v: %v", cluster, err)
		}
		got := make([]byte, 16)
		if err := b.Read(0, got); err != nil {
			t.Fatal(err)
		}
		if want := bytesOf(2, 18, 2, 18); string(got) != string(want) {
			t.Errorf("cluster %v: got %x, want %x", cluster, got, want)
		}
	}
	err = launchText(t, d, text, device.Launch{Grid: device.D(4), Block: device.D(1), Cluster: device.D(4), Params: []device.Param{device.Ptr(b)}})
	if err == nil || !strings.Contains(err.Error(), "compiled for clusters of (2, 1, 1)") {
		t.Errorf("a cluster of 4: %v", err)
	}
	err = launchText(t, d, text, device.Launch{Grid: device.D(3), Block: device.D(1), Params: []device.Param{device.Ptr(b)}})
	if err == nil || !strings.Contains(err.Error(), "not a multiple") {
		t.Errorf("a grid of 3: %v", err)
	}
}
