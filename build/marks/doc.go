// Package marks records when the warps of a kernel reach marked places, on a GPU or on the emulator.
// It shows as a timeline what a kernel really did, beside the timeline that attest profile predicts.
//
//	k := build.New("mine", ptx.SM90a)
//	m := marks.New(k, 64)  // declares the parameter "marks"; 0 records nothing and declares nothing
//	...
//	m.At("K arrived")      // a store and a few other instructions
//
// [Insert] adds marks to a module that is already written, after each of its waits. attest profile --record uses it.
//
// The launch passes a buffer of [Marks.Bytes] bytes, which starts with zeros. [Marks.Read] decodes the
// buffer, and [WriteTrace] writes trace events for ui.perfetto.dev.
//
// A warp records with its first lane. At must be called where all lanes of a warp are together. A mark
// costs about 10 instructions and 20 to 40 cycles on a GPU, so mark steps and not instructions. The
// emulator's clock counts instructions.
package marks
