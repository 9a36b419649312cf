// Package check finds the defects of a kernel while it runs on the emulator: races,
// missing proxy fences, reads of what nobody wrote, misused barriers and the like.
// It watches from outside; the emulator knows nothing of it.
//
//	c := check.New(check.All)
//	dev, err := emu.New(ptx.SM90a, emu.Options{Observer: c, GuardShared: true, KeepGoing: true})
//	… launch …
//	for _, d := range c.Defects() { fmt.Println(d) }
//
// A defect says what went wrong and where: the line of PTX and of the source it was
// made from, the threads, the variable, and for a race the other access. It is
// found from the order that the program itself establishes, not from the order in
// which this run happened to execute, so one run shows races that a GPU shows once
// in a thousand.
package check
