// Package check finds the defects of a kernel while it runs on the emulator: races, missing proxy
// fences, reads of unwritten memory, misused barriers and the like. It is an observer: the
// emulator does not depend on it.
//
//	c := check.New()
//	dev, err := emu.New(ptx.SM90a, emu.Options{Observer: c, GuardShared: true, KeepGoing: true})
//	… launch …
//	for _, f := range c.Findings() { fmt.Println(&f) }
//
// A finding says what went wrong and where: the line of the PTX and of its source, the threads,
// the variable, and for a race the other access. The checkers use the order that the program
// itself establishes, not the order in which this run happened to execute. So one run shows races
// that a GPU shows once in a thousand runs.
package check
