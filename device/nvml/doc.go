// Package nvml reads the state of NVIDIA GPUs, their clocks, power, temperature
// and why they run slower than they could, through the NVIDIA Management Library,
// without cgo. It reads and never sets: a measurement takes a card as it is and
// says how that was.
//
// A machine without the library is a normal one: [Open] then returns an error in
// which errors.Is finds device.ErrNoDevice. An entry that a driver lacks, or a
// reading that a card refuses, leaves its figure zero.
package nvml
