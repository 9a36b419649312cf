//go:build linux && (amd64 || arm64)

package main

// The CUDA driver is opened by its name, --device cuda:0. Opening libraries at run
// time makes the binary a dynamic one, so it is only where NVIDIA has a driver.
import _ "github.com/GOATnote-Inc/attest/device/cuda"
