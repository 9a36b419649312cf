// Package devicetest is the conformance suite for devices: small kernels with known
// results, which run through the device interface.
//
// A case is an archive testdata/NAME.txtar. Its comment says what it tests and why the
// expected results are right. Its files are
//
//	kernel.ptx    the module; its .target is the oldest target that runs it
//	launch.json   a launch file: see package launchfile
//	…             the data files that it names, usually text: in.f32.txt
//
// To add a case, add an archive. It must have expected content for at least one buffer and
// use all of its files. Results that PTX leaves undefined do not belong here, and neither do
// errors, because their texts depend on the device.
package devicetest
