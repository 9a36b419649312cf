// Package kerneltest is what the tests of all kernels need: buffers, a device to run on,
// and goldens of their PTX. Whatever goes wrong ends the test.
package kerneltest
