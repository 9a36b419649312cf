// Package lab measures kernels that compute attention, and can be fooled by none of
// the ways in which harnesses have been fooled before.
//
//	s, err := lab.Preset("stage3b", problem.Attention{}, kernel.Chip{})
//	r, err := lab.Measure(ctx, s, lab.Quick(), nil)
//	v := gate.Judge(r)
//
// A Subject is a kernel with its contract: one of ours, or PTX from anywhere with a
// description of its call (package kernel/abi). Measure fills the sections of a
// [record.Record]; package lab/gate judges it. The sections are measured in the order
// of the gates, and one that is red ends the work: green before fast.
//
//	resources    what ptxas, the driver or an estimate say
//	defects      the emulator's checkers, over shapes and schedules; bits compared
//	correctness  the plan's cases on its device, against float64
//	counters     what kernel and baseline do on the emulator
//	performance  on a GPU, interleaved with the baseline and rivals, over several
//	             processes if somebody starts them (Times.Elsewhere)
//
// # How a case is run
//
// Every buffer lies between guard bands, which are checked afterwards. Outputs and
// workspaces are filled with a NaN that no kernel writes. The kernel runs before its
// reference is computed, twice, and must give the same bits. Inputs are read back and
// must be what they were. Then O is compared with float64 over the inputs as they
// were and as they were quantised, and so are the impostors (gate.Impostors), which
// are made from that very reference. A case that fails gets a map of its errors, and
// the cause in words where the pattern is known.
//
// # How times are taken
//
// As package timing does, candidate, baseline and rivals in turns. Between the turns
// the inputs are replaced and the output is poisoned; one launch must give the bits
// that are right for the new inputs, and so must the last of the timed ones. The
// ceilings of the device (memory, tensor cores, an empty launch) are probed in the
// same run.
package lab
