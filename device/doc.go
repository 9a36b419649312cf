// Package device is what kernels run on: the interface that the emulator and the
// CUDA driver implement.
//
// A [Device] allocates [Buffer]s, loads PTX into a [Module] and launches its
// kernels. Drivers register themselves under a name; [Open] finds them by it, so
// that a program imports the drivers it wants and names one at run time:
//
//	dev, err := device.Open("emu:sm_90a")
//
// A [Streamer] can also queue work in a [Stream], time it with an [Event] and note it
// down in a [Graph].
//
// Everything a launch needs is in [Launch]: plain data that can be written down,
// repeated on another device and compared.
package device
