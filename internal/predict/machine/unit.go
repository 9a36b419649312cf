package machine

import "github.com/GOATnote-Inc/attest/internal/chips"

// Unit is the kind of work that an operation is to a sub-core. Several units share a pipe.
type Unit uint8

// The units.
const (
	None    Unit = iota // the operation uses only an issue slot, or not even that
	Float               // f32 arithmetic
	IMad                // integer multiplication, on the pipe of f32
	Half                // f16 arithmetic
	Double              // f64 arithmetic
	ALU                 // integers, comparisons, selections, maxima
	Pack                // conversions among floats of up to 32 bits, on the pipe of integers
	Exp                 // special functions
	Convert             // conversions between integers and floats, on the pipe of special functions
	Shuffle             // exchange between lanes, on the pipe of memory
	Memory              // loads, stores, atomics
	Tensor              // mma.sync
	WGMMA               // wgmma
	Copy                // bulk copies
	Sync                // barriers and mbarriers
	Branch
	Uniform // scalar values that all lanes share
	unitCount
)

var unitNames = [unitCount]string{
	"none", "float", "imad", "half", "double", "integer", "pack", "exp", "convert", "shuffle", "memory", "tensor", "wgmma", "copy", "sync", "branch", "uniform",
}

func (u Unit) String() string { return unitNames[u] }

// pipe is a part of a sub-core that executes one operation at a time.
type pipe uint8

const (
	noPipe pipe = iota
	fmaPipe
	aluPipe
	halfPipe
	doublePipe
	expPipe
	memoryPipe
	tensorPipe
	branchPipe
	pipeCount
)

var pipeOf = [unitCount]pipe{
	Float: fmaPipe, IMad: fmaPipe, Half: halfPipe, Double: doublePipe, ALU: aluPipe, Pack: aluPipe, Exp: expPipe, Convert: expPipe,
	Shuffle: memoryPipe, Memory: memoryPipe, Tensor: tensorPipe, Copy: memoryPipe, Sync: memoryPipe, Branch: branchPipe,
}

// rates are the numbers of a chip that the simulation uses, in cycles of the SM clock unless a
// name says otherwise.
type rates struct {
	latency, interval                                                                   [unitCount]float64
	ghz                                                                                 float64
	tensorF16, tensorFP8, mmaShare                                                      float64
	shared, wavefront, wavefrontLatency                                                 float64
	memorySM, memoryQueue                                                               float64
	l1, l2, dram, l2Bytes, storeBytes, storePort, storeBurst                            float64
	tma, tmaIssue, tmaEngine, tensorMap, bulkBytes                                      float64
	arrive, try, wake, barrier, barrierWarp                                             float64
	cluster, clusterRelease, clusterStart, dsmem, dsmemBytes                            float64
	wgmma, wgmmaPorts, fence, fenceGPU, setmaxnreg, special, vote, redux                float64
	param, constant, atomic, blockStart, blockInterval, fetchLine, fetchNext, fetchMiss float64
	nearLines                                                                           int // lines of machine code that a sub-core holds
}

func ratesOf(c *chips.Chip, mhz float64) *rates {
	g := c.Get
	r := &rates{ghz: mhz / 1000}
	set := func(u Unit, name string) {
		r.latency[u], r.interval[u] = g(name+"_latency"), g(name+"_interval")
	}
	set(Float, "float")
	set(IMad, "imad")
	set(Half, "half")
	set(Double, "double")
	set(ALU, "alu")
	set(Pack, "cvt")
	set(Exp, "mufu")
	set(Convert, "convert")
	set(Shuffle, "shuffle")
	set(Branch, "branch")
	r.latency[Uniform] = g("uniform_latency")
	r.latency[Tensor] = g("mma_latency")
	r.interval[Memory], r.interval[Sync], r.interval[Copy] = g("memory_issue_interval"), g("memory_issue_interval"), g("memory_issue_interval")
	r.interval[WGMMA] = g("wgmma_issue")
	r.tensorF16, r.tensorFP8, r.mmaShare = g("tensor_f16"), g("tensor_fp8"), g("mma_sync_share")
	r.shared, r.wavefront, r.wavefrontLatency = g("shared_latency"), g("wavefront_interval"), g("wavefront_latency")
	r.memorySM, r.memoryQueue = g("memory_sm_interval"), g("memory_queue")
	r.l1, r.l2, r.dram = g("l1_latency"), g("l2_ns")*r.ghz, g("dram_ns")*r.ghz
	r.l2Bytes, r.storeBytes = g("l2_bytes"), g("store_bytes")
	r.storePort, r.storeBurst = g("sm_store_bytes"), g("store_burst")
	r.tma, r.tmaIssue, r.tmaEngine = g("tma_ns")*r.ghz, g("tma_issue"), g("tma_engine")
	r.tensorMap, r.bulkBytes = g("tensor_map_ns")*r.ghz, g("bulk_bytes")
	r.arrive, r.try, r.wake = g("mbarrier_arrive"), g("mbarrier_try"), g("mbarrier_wake")
	r.barrier, r.barrierWarp, r.cluster = g("barrier_latency"), g("barrier_warp_interval"), g("cluster_latency")
	r.clusterRelease, r.clusterStart = g("cluster_release"), g("cluster_start")
	r.dsmem, r.dsmemBytes = g("dsmem_latency"), g("dsmem_bytes")
	r.wgmma, r.fence, r.fenceGPU, r.setmaxnreg = g("wgmma_latency"), g("fence_latency"), g("fence_gpu_latency"), g("setmaxnreg_latency")
	r.wgmmaPorts = g("wgmma_ports")
	r.param = g("param_ns") * r.ghz
	r.special, r.vote, r.redux, r.constant = g("special_latency"), g("vote_latency"), g("redux_latency"), g("const_latency")
	r.atomic, r.blockStart, r.blockInterval = g("atomic_ns")*r.ghz, g("block_start"), g("block_interval")
	r.fetchLine, r.fetchNext = g("fetch_line"), g("fetch_next")
	r.fetchMiss, r.nearLines = g("fetch_miss"), int(g("loop_instructions")/8)
	return r
}
