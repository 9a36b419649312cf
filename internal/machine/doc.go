// Package machine opens the device that a command runs kernels on, as --device names it,
// together with the sensor of the GPU.
package machine
