// Package device defines the interface of the devices that run kernels. The emulator and
// the CUDA driver implement it.
//
// A [Device] allocates [Buffer]s, loads PTX into a [Module] and launches its kernels. A
// driver registers itself under a name. A program imports the drivers that it needs and
// opens a device by name at run time:
//
//	dev, err := device.Open("emu:sm_90a")
//
// A [Streamer] can also queue work in a [Stream], time it with an [Event] and record it in a
// [Graph].
//
// A [Launch] holds everything that a launch needs as plain data. It can be stored, repeated
// on another device and compared.
package device
