// Package catalogue implements attest list: the names of kernels, presets, toggles, shapes,
// distributions of inputs, and devices.
package catalogue
