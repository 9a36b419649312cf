// Package lab measures kernels that compute attention. It assumes that a kernel may cheat:
// stored outputs, predictable inputs and unchecked launches do not help it.
//
//	s, err := lab.Preset("stage3b", problem.Attention{}, kernel.Chip{})
//	r, err := lab.Measure(ctx, s, lab.Quick(), nil)
//	v := gate.Judge(r)
//
// A Subject is a kernel with its contract: one of ours, or PTX from anywhere with a
// description of its call (package kernel/abi). Measure fills the sections of a
// [record.Record]; package lab/gate judges it. The sections are measured in the order
// of the gates, and a red one ends the measurement.
//
//	resources    by ptxas, the driver or an estimate
//	defects      the checkers of the emulator, on several shapes and schedules
//	correctness  the cases of the plan on its device, against float64
//	counters     the counts of the kernel and its baseline on the emulator
//	performance  on a GPU, in turns with the baseline and the rivals, in several
//	             processes if the caller starts them (Times.Elsewhere)
//
// # How a case is run
//
// Every buffer is between guard bands of random bytes, which are checked afterwards. The kernel
// runs twice, before its reference is computed, and must give the same bits. The second run has
// other guard bands, and the complements of the random bytes in outputs and workspaces, so an
// element that no run has written is known. The inputs are read back and must be unchanged. Then
// O is compared with float64 on the inputs before and after quantisation. The impostors
// (gate.Impostors), which are derived from the same reference, must fail this comparison. A
// case that fails gets a map of its errors, and the likely cause if the pattern is known.
//
// # How times are taken
//
// Package timing times the kernel, its baseline and the rivals in turns. A launch cannot skip its
// work. The inputs of each turn are new: about half of the elements of Q, K and V are negated at
// random. In a graph, each launch of a pass has its own set of buffers, and the sets differ only
// in a few elements deep inside K and V. Between the passes a kernel of the lab overwrites outputs
// and workspaces with random bytes, restores the variables of the module and negates other
// elements. The time of this spoiling is measured alone and subtracted.
//
// After each turn the lab repeats all its launches without timing, in another order and with other
// bytes in the outputs, and compares digests of the outputs. After the last turn it compares one
// output with float64. A kernel that reads the lengths of sequences is timed with full ones; the lab
// also launches it on drawn lengths, by the same method, and compares these outputs with float64. It probes the ceilings of the device (memory, tensor cores, an empty
// launch) in the same run.
package lab
