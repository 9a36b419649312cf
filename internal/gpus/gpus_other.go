//go:build !(linux && (amd64 || arm64))

package gpus

import (
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/internal/doctor"
)

// List is nil where NVIDIA has no driver.
var List func() ([]doctor.GPU, error)

// Sensor returns nil: without a driver there is no card to read.
func Sensor(string) device.Sensor { return nil }
