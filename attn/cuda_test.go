//go:build linux && amd64

package attn

// For -device cuda:0.
import _ "attest/device/cuda"
