// Package catalogue lists what the commands work with: kernels, their presets, shapes,
// distributions of inputs, and devices.
package catalogue
