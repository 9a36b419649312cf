//go:build !(linux && (amd64 || arm64))

package main

import (
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/internal/doctor"
)

// listGPUs is nil where NVIDIA has no driver.
var listGPUs func() ([]doctor.GPU, error)

func openSensor(string) device.Sensor { return nil }
