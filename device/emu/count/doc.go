// Package count counts what a kernel does on the emulator: instructions by family, opcode and
// line, bank conflicts in shared memory, sectors of global memory, divergent branches, barriers,
// bytes and tensor operations.
//
//	c := count.New()
//	dev, err := emu.New(ptx.SM90a, emu.Options{Observer: c})
//	… launch …
//	for _, l := range c.Launches() { fmt.Println(l.Kernel, l.Shared.Conflicts) }
//
// The counts follow from the addresses and masks of the warps by the rules of the hardware, not
// from time. Shared memory has 32 banks of 4 bytes. A request of 8 or 16 bytes per lane takes two
// or four parts. Lanes that access the same word share it. Global memory is moved in sectors of
// 32 bytes. Caches are not modelled. The counts are the same in every run of the same schedule.
package count
