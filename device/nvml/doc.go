// Package nvml reads the state of NVIDIA GPUs through the NVIDIA Management Library (NVML),
// without cgo: clocks, power, temperature, and the reasons why a GPU runs slower than it
// could. It only reads and never changes a setting: a measurement uses a GPU in its present
// state and reports that state.
//
// A machine without the library is a normal case: [Open] then returns an error that is
// device.ErrNoDevice. If a driver lacks an entry, or a GPU does not support a reading, the
// value is zero.
package nvml
