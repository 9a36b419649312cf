// Package gpus lists the GPUs of this machine and reads their state while they are
// measured. Where NVIDIA has no driver, there are none.
package gpus
