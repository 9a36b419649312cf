// Package count counts what a kernel does while it runs on the emulator: the
// instructions by family, opcode and line, conflicts of shared-memory banks, sectors
// of global memory, diverging branches, barriers, bytes and tensor operations.
//
//	c := count.New()
//	dev, err := emu.New(ptx.SM90a, emu.Options{Observer: c})
//	… launch …
//	for _, l := range c.Launches() { fmt.Println(l.Kernel, l.Shared.Conflicts) }
//
// The numbers follow from the addresses and masks of the warps by the rules of the
// hardware, not from time: shared memory has 32 banks of 4 bytes, a request of wider
// lanes goes in two or four parts, lanes that want the same word share it; global
// memory moves in sectors of 32 bytes. They do not know caches, and they are the
// same in every run of the same schedule.
package count
