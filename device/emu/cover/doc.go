// Package cover collects which lines of a kernel ran on the emulator, and which outcomes its
// conditions had.
//
//	c := cover.New()
//	dev, err := emu.New(ptx.SM90a, emu.Options{Observer: c})
//	… launch …
//	fmt.Println(c.Report()) // "98 % of 1200 lines, 93 % of 310 branch outcomes"
//
// A line is a PTX instruction. A branch outcome is a guard that holds, or one that fails, in at
// least one thread; guards that depend on the moment at which a wait ends do not count. Code that
// no shape can reach, because the call fixes the arguments that lead to it, does not count either.
//
// For every comparison of integers that has had one outcome only, [Cover.Near] says how far its
// operands were from the other outcome. A caller that changes the sizes of a problem until the
// distance is zero reaches code behind a condition such as S > 1000.
//
// Coverage adds up over launches. An instruction whose outcomes have all been seen is not
// observed again, so coverage costs little.
package cover
