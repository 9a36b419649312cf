// Package kinds has values of every kind that may stand for a kernel, and others.
package kinds

import (
	"errors"
	"fmt"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/examples/flash"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Value is a kernel.
var Value = func() *kernel.Kernel {
	fmt.Println("a line that is no kernel")
	k, err := flash.Kernel()
	if err != nil {
		panic(err)
	}
	return k
}()

// Nil is no kernel.
var Nil *kernel.Kernel

// Number is no kernel.
const Number = 7

// ForProblem asks for the problem.
func ForProblem(p problem.Attention) (*kernel.Kernel, error) {
	if p.D != 64 {
		return nil, fmt.Errorf("D is %d", p.D)
	}
	return Value, nil
}

// ForChip asks for the chip.
func ForChip(_ problem.Attention, c kernel.Chip) (*kernel.Kernel, error) {
	if c.SMs != 58 {
		return nil, fmt.Errorf("%d SMs", c.SMs)
	}
	return Value, nil
}

// Fails always fails.
func Fails() (*kernel.Kernel, error) { return nil, errors.New("no kernel today") }

// Panics panics.
func Panics() *kernel.Kernel { panic("boom") }

// Uncalled does not say how it is called.
func Uncalled() *build.Kernel { return build.New("k", ptx.SM80) }
