package abi

import (
	"encoding/json"

	"github.com/GOATnote-Inc/attest/internal/jsonpos"
	"github.com/GOATnote-Inc/attest/kernel"
)

// names are those that expressions may use.
var names = []string{"B", "H", "Hkv", "Sq", "S", "Skv", "D", "SMs", "BlocksPerSM", "scale", "qs", "ks", "vs"}

// Parse reads the call of a kernel, in either form. file stands for the text in errors,
// which name line and column.
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

// Write is the call of a kernel as a file that Parse reads: the whole form, without the
// PTX.
func Write(k *kernel.Kernel) ([]byte, error) {
	call := *k
	call.PTX = ""
	text, err := json.MarshalIndent(&call, "", "\t")
	return append(text, '\n'), err
}
