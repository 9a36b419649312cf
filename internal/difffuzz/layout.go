package difffuzz

// The sizes of each memory per thread or per block, in bytes.
const (
	constantSize = 256 // read-only memory at the start of the inputs, shared by all threads
	ownSize      = 64  // shared memory and local memory per thread
	memSize      = 128 // global memory per thread
	commonSize   = 256 // shared memory and global memory per block
	warpSize     = 1024
	exchangeSize = 16 // per thread
	paramSize    = 64
)

// layout holds the places of a kernel's values in its buffers.
type layout struct {
	words    map[string]bool
	in, out  []string // registers, in the order of the records
	inSize   int      // bytes of a thread's input record
	outSize  int
	fillAt   int // offset in the input record of the initial content of shared and local memory
	sharedAt int // offset in the output record of the thread's shared memory, or -1
	localAt  int
	matrix   int
	cluster  bool
	// points are the traced results. traceSize is the size in bytes of a thread's trace.
	points    []point
	traceSize int
}

// point is one result of a traced kernel.
type point struct {
	inst string
	reg  string
	at   int
}

func (k *Kernel) layout() *layout {
	l := &layout{words: k.words(), sharedAt: -1, localAt: -1}
	l.in, l.out = k.registers()
	for _, r := range l.in {
		l.inSize += slot(r)
	}
	for _, r := range l.out {
		l.outSize += slot(r)
	}
	l.inSize, l.outSize = align(l.inSize), align(l.outSize)
	own, loc := l.words["%own"], l.words["%loc"]
	if own || loc {
		l.fillAt = l.inSize
		l.inSize += ownSize
	}
	if own {
		l.sharedAt = l.outSize
		l.outSize += ownSize
	}
	if loc {
		l.localAt = l.outSize
		l.outSize += ownSize
	}
	l.outSize = max(l.outSize, 16)
	walk(k.Body, func(n *Node) {
		l.matrix = max(l.matrix, n.Matrix)
		l.cluster = l.cluster || n.Cluster
	})
	return l
}

func align(n int) int { return (n + 15) &^ 15 }

// blockOut returns the size in bytes of a block's outputs.
func (k *Kernel) blockOut(l *layout) int {
	n := k.Threads() * l.outSize
	if l.words["%com"] {
		n += commonSize
	}
	return n
}

func (k *Kernel) blockMem() int { return k.Threads()*memSize + commonSize }

// usesMem reports whether the kernel has a buffer that it reads and writes.
func (l *layout) usesMem() bool { return l.words["%mem"] || l.words["%gcom"] }

// Data is the content of the buffers of a launch.
type Data struct {
	In, Mem, Par []byte // Mem and Par are nil if the kernel does not use them
	Out          int    // size of the output buffer in bytes
	Trace        int    // size of the trace in bytes, 0 without a trace
}

// data makes the inputs of a launch with the given number of blocks.
func (k *Kernel) data(l *layout, blocks int) Data {
	threads := k.Threads()
	d := Data{Out: blocks * k.blockOut(l)}
	d.In = make([]byte, constantSize+blocks*threads*l.inSize)
	copy(d.In, fill(k.Fill, constantSize))
	for t := range blocks * threads {
		rec := d.In[constantSize+t*l.inSize:][:l.inSize]
		at := 0
		for _, r := range l.in {
			var w Word
			if ws := k.Inputs[r]; len(ws) > 0 { // a register that shrinking has added has no inputs
				w = ws[t%len(ws)]
			}
			put(rec[at:], w[0])
			if slot(r) == 16 {
				put(rec[at+8:], w[1])
			}
			at += slot(r)
		}
		if l.fillAt > 0 {
			copy(rec[l.fillAt:], fill(threadSeed(k.Fill, t), ownSize))
		}
	}
	if l.usesMem() {
		for b := range blocks {
			for t := range threads {
				d.Mem = append(d.Mem, fill(threadSeed(k.Fill+1, b*threads+t), memSize)...)
			}
			d.Mem = append(d.Mem, fill(threadSeed(k.Fill+2, b), commonSize)...)
		}
	}
	if l.words["PAR"] {
		d.Par = fill(threadSeed(k.Fill, 1<<20), paramSize)
	}
	d.Trace = blocks * threads * l.traceSize
	return d
}

// threadSeed returns the seed of one thread's memory. Seed 0, which means zeros, stays 0.
func threadSeed(seed uint64, thread int) uint64 {
	if seed <= 2 {
		return 0
	}
	return seed*0x9e3779b97f4a7c15 + uint64(thread) + 1
}

// Place describes the value at a byte of the outputs.
type Place struct {
	What   string // "%r3", "shared memory", "global memory", "common memory"
	Block  int
	Thread int
	Offset int // the offset in the memory, in bytes
}

// place returns the place at an offset of the output buffer.
func (k *Kernel) place(l *layout, at int) Place {
	size := k.blockOut(l)
	p := Place{Block: at / size}
	at %= size
	if at >= k.Threads()*l.outSize {
		return Place{What: "common shared memory", Block: p.Block, Thread: -1, Offset: at - k.Threads()*l.outSize}
	}
	p.Thread = at / l.outSize
	at %= l.outSize
	switch {
	case l.localAt >= 0 && at >= l.localAt:
		p.What, p.Offset = "local memory", at-l.localAt
	case l.sharedAt >= 0 && at >= l.sharedAt:
		p.What, p.Offset = "shared memory", at-l.sharedAt
	default:
		for _, r := range l.out {
			if at < slot(r) {
				p.What = r
				break
			}
			at -= slot(r)
		}
	}
	return p
}

// memPlace returns the place at an offset of the buffer of global memory.
func (k *Kernel) memPlace(at int) Place {
	size := k.blockMem()
	p := Place{What: "global memory", Block: at / size}
	at %= size
	if at >= k.Threads()*memSize {
		return Place{What: "common global memory", Block: p.Block, Thread: -1, Offset: at - k.Threads()*memSize}
	}
	p.Thread, p.Offset = at/memSize, at%memSize
	return p
}
