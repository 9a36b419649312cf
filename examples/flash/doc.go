// Package flash is an attention kernel in Go that attest judges as it judges its own:
//
//	attest gate ./examples/flash.Kernel
package flash
