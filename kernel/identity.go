package kernel

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/GOATnote-Inc/attest/ptx/normal"
)

// Identity is what a kernel is known by: the hash of the normal form of its text and of its
// call. A moved source line or another comment keeps it; another instruction, grid or
// workspace does not. A text that is no PTX is hashed as it stands.
func (k *Kernel) Identity() string {
	text, err := normal.Text(k.Name, k.PTX)
	if err != nil {
		text = k.PTX
	}
	call, err := json.Marshal(Kernel{Op: k.Op, Fixed: k.Fixed, Let: k.Let, Operands: k.Operands, Launches: k.Launches})
	if err != nil {
		panic("kernel: a call that JSON cannot hold: " + err.Error()) // there are only strings and numbers in it
	}
	h := sha256.New()
	h.Write([]byte(text))
	h.Write([]byte{0})
	h.Write(call)
	return hex.EncodeToString(h.Sum(nil))
}
