package emu

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestBulkLoad waits for the bytes of a bulk copy to shared memory. Before the wait, the
// bytes are not there.
func TestBulkLoad(t *testing.T) {
	const body = `
	mov.u32 a, buf;
	mov.u32 b, bar;
	mbarrier.init.shared.b64 [b], 1;
	mbarrier.arrive.expect_tx.shared.b64 state, [b], 32;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [a+16], [in], 32, [b];
	ld.shared.u32 v, [a+16];
	st.global.u32 [out], v;
wait: mbarrier.try_wait.parity.shared.b64 p, [b], 0;
	@!p bra wait;
	ld.shared.v4.u32 {v, w, n, s}, [a+32];
	st.global.v4.u32 [out+16], {v, w, n, s};`
	got, err := runAsync(t, Options{}, 1, body, counting(8))
	if err != nil {
		t.Fatal(err)
	}
	wantWords(t, got, 0, 0, 0, 0, 5, 6, 7, 8)
}

// TestBulkStore overwrites the source of bulk stores, and reads their destination, after
// waits that do and do not cover them.
func TestBulkStore(t *testing.T) {
	const set = "st.shared.v4.u32 [a], {v, v, v, v};\n"
	const issue = "cp.async.bulk.global.shared::cta.bulk_group [out+16], [a], 16; cp.async.bulk.commit_group;\n"
	const look = "ld.global.u32 w, [out+16]; st.global.u32 [out], w;\n"
	for name, c := range map[string]struct {
		body string
		want []uint32
	}{
		"no wait":   {set + issue + "mov.u32 v, 9;" + set + look, []uint32{0, 0, 0, 0, 9}},
		"read":      {set + issue + "cp.async.bulk.wait_group.read 0; mov.u32 v, 9;" + set + look, []uint32{0, 0, 0, 0, 7}},
		"wait":      {set + issue + "cp.async.bulk.wait_group 0; mov.u32 v, 9;" + set + look, []uint32{7, 0, 0, 0, 7}},
		"keep one":  {set + issue + "cp.async.bulk.wait_group 1; mov.u32 v, 9;" + set + look, []uint32{0, 0, 0, 0, 9}},
		"hint":      {set + "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [out+16], [a], 16, x;", []uint32{0, 0, 0, 0, 7}},
		"prefetch":  {set + "cp.async.bulk.prefetch.L2.global [in], 32;" + look, []uint32{0, 0, 0, 0, 0}},
		"uncovered": {set + "cp.async.bulk.global.shared::cta.bulk_group [out+16], [a], 16; cp.async.bulk.wait_group 0;" + look, []uint32{0, 0, 0, 0, 7}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := runAsync(t, Options{}, 1, "mov.u32 a, buf; mov.u32 v, 7; mov.u64 x, 0;\n"+c.body, counting(8))
			if err != nil {
				t.Fatal(err)
			}
			wantWords(t, got, c.want...)
		})
	}
}

// TestBulkHuge runs bulk copies of almost 4 GiB on a device that continues after a fault. Each
// ends the launch, because memory for that many bytes would have to stand for the missing ones.
func TestBulkHuge(t *testing.T) {
	for _, op := range []string{
		"cp.async.bulk.global.shared::cta.bulk_group [out], [a], -16;",
		"cp.async.bulk.prefetch.L2.global [in], -16;",
		"mov.u32 b, bar; mbarrier.init.shared.b64 [b], 1;" +
			"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [a], [in], -16, [b];",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := runAsync(t, Options{KeepGoing: true}, 1, "mov.u32 a, buf;\n"+op, counting(8))
		runtime.ReadMemStats(&after)
		if fault := new(device.Fault); !errors.As(err, &fault) {
			t.Errorf("%s: got %v, want a fault", op, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<30 {
			t.Errorf("%s allocates %d bytes", op, n)
		}
	}
}

// TestBulkReduce combines 16 bytes of shared memory with 16 bytes of global memory, by each
// operation and type.
func TestBulkReduce(t *testing.T) {
	old := bytesOf(5, 0xfffffff0, 0, 0x3c004400)
	add := bytesOf(7, 3, 0, 0x3c003c00)
	f := func(v ...float32) (b []byte) {
		for _, x := range v {
			b = append(b, bytesOf(math.Float32bits(x))...)
		}
		return b
	}
	d := func(x, y float64) []byte {
		a, b := math.Float64bits(x), math.Float64bits(y)
		return bytesOf(uint32(a), uint32(a>>32), uint32(b), uint32(b>>32))
	}
	for _, c := range []struct {
		op             string
		old, add, want []byte
	}{
		{"add.u32", old, add, bytesOf(12, 0xfffffff3, 0, 0x78008000)},
		{"add.s32", old, add, bytesOf(12, 0xfffffff3, 0, 0x78008000)},
		{"add.u64", bytesOf(0xffffffff, 1, 5, 0), bytesOf(1, 1, 6, 0), bytesOf(0, 3, 11, 0)},
		{"min.u32", old, add, bytesOf(5, 3, 0, 0x3c003c00)},
		{"max.u32", old, add, bytesOf(7, 0xfffffff0, 0, 0x3c004400)},
		{"min.s32", old, add, bytesOf(5, 0xfffffff0, 0, 0x3c003c00)},
		{"max.s32", old, add, bytesOf(7, 3, 0, 0x3c004400)},
		{"min.s64", bytesOf(0, 0xffffffff, 1, 0), bytesOf(0, 0, 2, 0), bytesOf(0, 0xffffffff, 1, 0)},
		{"max.u64", bytesOf(0, 0xffffffff, 1, 0), bytesOf(0, 0, 2, 0), bytesOf(0, 0xffffffff, 2, 0)},
		{"inc.u32", bytesOf(5, 7, 8, 0), bytesOf(7, 7, 7, 7), bytesOf(6, 0, 0, 1)},
		{"dec.u32", bytesOf(5, 7, 8, 0), bytesOf(7, 7, 7, 7), bytesOf(4, 6, 7, 7)},
		{"and.b32", old, add, bytesOf(5, 0, 0, 0x3c000400)},
		{"or.b64", old, add, bytesOf(7, 0xfffffff3, 0, 0x3c007c00)},
		{"xor.b32", old, add, bytesOf(2, 0xfffffff3, 0, 0x7800)},
		{"add.f32", f(1, 2, 0.5, -1), f(1, 0.25, 1e-45, 1), f(2, 2.25, 0.5, 0)},
		{"add.f64", d(1, 2), d(0.5, -2), d(1.5, 0)},
		{"add.noftz.f16", bytesOf(0x3c004400, 0, 0, 0), bytesOf(0x3c003c00, 1, 0, 0), bytesOf(0x40004500, 1, 0, 0)},
		{"add.noftz.bf16", bytesOf(0x3f804000, 0, 0, 0), bytesOf(0x3f803f80, 1, 0, 0), bytesOf(0x40004040, 1, 0, 0)},
		{"min.f16", bytesOf(0x3c004400, 0, 0, 0), bytesOf(0x40003c00, 0x8000, 0, 0), bytesOf(0x3c003c00, 0x8000, 0, 0)},
		{"max.bf16", bytesOf(0x3f804000, 0, 0, 0), bytesOf(0x40003f80, 0x8000, 0, 0), bytesOf(0x40004000, 0, 0, 0)},
	} {
		body := fmt.Sprintf(`
	mov.u32 a, buf;
	ld.global.v4.u32 {v, w, n, s}, [in];
	st.global.v4.u32 [out], {v, w, n, s};
	ld.global.v4.u32 {v, w, n, s}, [in+16];
	st.shared.v4.u32 [a], {v, w, n, s};
	cp.reduce.async.bulk.global.shared::cta.bulk_group.%s [out], [a], 16;
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;`, c.op)
		got, err := runAsync(t, Options{}, 1, body, append(append([]byte{}, c.old...), c.add...))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got[:16], c.want) {
			t.Errorf("%s: got %x, want %x", c.op, got[:16], c.want)
		}
	}
}

func TestBulkFaults(t *testing.T) {
	const head = "mov.u32 a, buf; mov.u32 b, bar; mbarrier.init.shared.b64 [b], 1; mov.u32 n, 24;\n"
	const load = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
	for body, want := range map[string]string{
		load + "[a], [in], n, [b];":                                            "multiples of 16",
		load + "[a+8], [in], 16, [b];":                                         "multiples of 16",
		load + "[a], [in+8], 16, [b];":                                         "multiples of 16",
		load + "[a], [in], 64, [b];":                                           "runs past the end",
		load + "[a+4096], [in], 16, [b+8];":                                    "there is no mbarrier at this address",
		"cp.async.bulk.global.shared::cta.bulk_group [out], [a+0x100000], 16;": "past its",
		load[:len(load)-1] + ".multicast::cluster [a], [in], 16, [b], 6;":      "beyond the 1 of the cluster",
		load + "[a], [in], 16, [b]; wait: mbarrier.try_wait.parity.shared.b64 p, [b], 0; @!p bra wait;": "deadlock",
	} {
		_, err := runAsync(t, Options{}, 1, head+body, counting(8))
		wantFault(t, err, want)
	}
}

// runCluster runs the body of a kernel on a cluster of n blocks of 32 threads. The register
// rank holds the rank of the block. Both buffers have 4 KiB.
func runCluster(t *testing.T, opts Options, n int, body string) []byte {
	t.Helper()
	d := deviceFor(t, ptx.SM90a, opts)
	src, dst := bufferWith(t, d, counting(1024)), bufferWith(t, d, make([]byte, 4096))
	err := launchText(t, d, asyncHead+"mov.u32 rank, %cluster_ctarank;\n"+body+"\nret;\n}\n", device.Launch{
		Grid: device.D(n), Block: device.D(32), Cluster: device.D(n), Params: []device.Param{device.Ptr(src), device.Ptr(dst)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return contents(t, dst)
}

const clusterSync = "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\n"

// TestClusterBarrier reads the shared memory of the neighbouring block after a barrier.
func TestClusterBarrier(t *testing.T) {
	const body = `
	mov.u32 a, buf;
	mad.lo.u32 v, rank, 100, tid;
	shl.b32 c, tid, 2;
	add.u32 b, a, c;
	st.shared.u32 [b], v;
	` + clusterSync + `
	add.u32 n, rank, 1;
	and.b32 n, n, 3;
	mapa.shared::cluster.u32 b, b, n;
	ld.shared::cluster.u32 v, [b];
	add.u32 v, v, 1;
	st.shared::cluster.u32 [b], v;
	barrier.cluster.arrive.relaxed;
	barrier.cluster.wait;
	add.u32 b, a, c;
	ld.shared.u32 w, [b];
	mad.lo.u32 n, rank, 32, tid;
	mul.wide.u32 x, n, 8;
	add.u64 out, out, x;
	st.global.v2.u32 [out], {v, w};`
	for seed := range uint64(3) {
		got := u32s(runCluster(t, Options{Schedule: seed}, 4, body))
		for i := range uint32(128) {
			rank, tid := i/32, i%32
			if v, w := got[2*i], got[2*i+1]; v != (rank+1)%4*100+tid+1 || w != rank*100+tid+1 {
				t.Fatalf("schedule %d: thread %d of block %d has %d and %d", seed, tid, rank, v, w)
			}
		}
	}
}

// TestClusterExited checks that threads that have ended count as arrived.
func TestClusterExited(t *testing.T) {
	const body = `
	setp.eq.u32 p, rank, 1;
	@p ret;
	setp.gt.u32 p, tid, 3;
	@p ret;
	barrier.cluster.arrive;
	barrier.cluster.wait;
	mad.lo.u32 n, rank, 4, tid;
	mul.wide.u32 x, n, 4;
	add.u64 out, out, x;
	st.global.u32 [out], 7;`
	got := runCluster(t, Options{}, 2, body)
	wantWords(t, got, 7, 7, 7, 7, 0)
}

// TestMulticast copies the same bytes to all blocks from one block.
func TestMulticast(t *testing.T) {
	const body = `
	mov.u32 a, buf;
	mov.u32 b, bar;
	setp.eq.u32 p, tid, 0;
	@p mbarrier.init.shared.b64 [b], 1;
	@p mbarrier.arrive.expect_tx.shared.b64 state, [b], 128;
	` + clusterSync + `
	setp.eq.and.u32 q, rank, 0, p;
	.reg .b16 to;
	mov.u16 to, 13;
	@q cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [a], [in], 128, [b], to;
	setp.eq.u32 q, rank, 1;
	@q bra show;
wait: mbarrier.try_wait.parity.shared.b64 p, [b], 0;
	@!p bra wait;
show:
	shl.b32 c, tid, 2;
	add.u32 a, a, c;
	ld.shared.u32 v, [a];
	mad.lo.u32 n, rank, 32, tid;
	mul.wide.u32 x, n, 4;
	add.u64 out, out, x;
	st.global.u32 [out], v;`
	got := u32s(runCluster(t, Options{}, 4, body))
	for i := range uint32(128) {
		want := i%32 + 1
		if i/32 == 1 {
			want = 0
		}
		if got[i] != want {
			t.Errorf("word %d of block %d is %d, want %d", i%32, i/32, got[i], want)
		}
	}
}

// TestRemoteStores stores, reduces and copies from block 0 to the shared memory of block 1,
// whose mbarrier counts the bytes.
func TestRemoteStores(t *testing.T) {
	const body = `
	mov.u32 a, buf;
	mov.u32 b, bar;
	setp.ne.u32 p, tid, 0;
	@p bra sync;
	mbarrier.init.shared.b64 [b], 1;
	mbarrier.arrive.expect_tx.shared.b64 state, [b], 52;
	mov.u32 v, 10;
	st.shared.v4.u32 [a], {v, v, v, v};
	st.shared.v4.u32 [a+16], {v, v, v, v};
	st.shared.v4.u32 [a+32], {v, v, v, v};
sync:
	` + clusterSync + `
	@p bra end;
	setp.eq.u32 q, rank, 1;
	@q bra wait;
	mapa.shared::cluster.u32 c, a, 1;
	mapa.shared::cluster.u32 w, b, 1;
	mov.u64 x, 0x500000004;
	st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [c], 3, [w];
	st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [c+16], {x, x}, [w];
	mov.u32 v, 5;
	red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [c+4], v, [w];
	red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [c+8], x, [w];
	red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.min.s32 [c+36], v, [w];
	cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.max.u32 [c+32], [a], 16, [w];
	bra end;
wait: mbarrier.try_wait.parity.acquire.cluster.shared.b64 q, [b], 0;
	@!q bra wait;
	ld.shared.v4.u32 {v, w, n, s}, [a];
	st.global.v4.u32 [out], {v, w, n, s};
	ld.shared.v4.u32 {v, w, n, s}, [a+16];
	st.global.v4.u32 [out+16], {v, w, n, s};
	ld.shared.v4.u32 {v, w, n, s}, [a+32];
	st.global.v4.u32 [out+32], {v, w, n, s};
end:
	` + clusterSync
	for seed := range uint64(3) {
		got := runCluster(t, Options{Schedule: seed}, 2, body)
		wantWords(t, got, 3, 15, 14, 15, 4, 5, 4, 5, 10, 10, 10, 10)
	}
}

func TestClusterFaults(t *testing.T) {
	for body, want := range map[string]string{
		"barrier.cluster.wait;":                                    "without an arrival",
		"barrier.cluster.arrive; barrier.cluster.arrive;":          "second arrival",
		"mov.u32 a, buf; ld.shared::cluster.u32 v, [a+0x3000000];": "of a cluster of 1",
	} {
		_, err := runAsync(t, Options{}, 32, body, counting(4))
		wantFault(t, err, want)
	}
}
