// Package devicetest is the suite that every device must pass: small kernels whose
// results are known, run through the device interface.
//
// A case is an archive testdata/NAME.txtar. Its comment says what is tried and why
// the results are what they are; its files are
//
//	kernel.ptx    the module; its .target is the least device that runs it
//	launch.json   a launch file, as package launchfile describes it
//	…             the data files that it names, mostly text: in.f32.txt
//
// A new case is a new archive. It must expect something of a buffer and use all of
// its files. Results that hardware leaves open do not belong here, nor do errors,
// which devices word differently.
package devicetest
