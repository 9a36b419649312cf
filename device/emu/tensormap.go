package emu

import "attest/device"

func encodeTensor(t device.TensorDesc) device.TensorMap { return device.TensorMap{} }
