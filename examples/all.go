package examples

import "github.com/GOATnote-Inc/attest/build"

// All returns the kernels of the examples, in the order in which to read them.
func All() []*build.Kernel {
	return []*build.Kernel{Saxpy(), Reduce(), Transpose(), Pipeline(), Matmul(), Ring(), Wgmma()}
}
