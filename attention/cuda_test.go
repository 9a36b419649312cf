//go:build linux && amd64

package attention

// For -device cuda:0.
import _ "github.com/GOATnote-Inc/attest/device/cuda"
