package abi

import (
	"encoding/json"

	"github.com/GOATnote-Inc/attest/internal/jsonpos"
	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
)

// names are the names that expressions may use in every file: those of the problem, of the
// device, and of scales that are passed by value.
var names = append(sorted.Keys(problem.Attention{Gaps: problem.Attention{}.UsualGaps()}.Names()), "SMs", "BlocksPerSM", "qs", "ks", "vs")

// Parse reads the description of a kernel's call, in the short or in the whole form. Errors
// have the form file:line:column: message.
func Parse(file string, text []byte) (*kernel.Kernel, error) {
	n, err := jsonpos.Parse(file, text)
	if err != nil {
		return nil, err
	}
	read := readShort
	if n.Field("launches") != nil {
		read = readWhole
	}
	k, err := read(n)
	if err != nil {
		return nil, err
	}
	if err := k.Check(); err != nil {
		return nil, n.Errorf("%v", err)
	}
	return k, nil
}

// Write returns a kernel's call in the whole form, without the PTX. Parse reads it.
func Write(k *kernel.Kernel) ([]byte, error) {
	call := *k
	call.PTX = ""
	text, err := json.MarshalIndent(&call, "", "\t")
	return append(text, '\n'), err
}
