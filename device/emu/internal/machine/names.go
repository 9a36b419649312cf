package machine

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
)

// SharedName describes an offset in the block's shared memory as variable+offset.
func (b *Block) SharedName(off int) string {
	name, base := "", 0
	for _, v := range b.kernel.sharedVars(b.Launch.Shared) {
		if v.Offset <= off {
			name, base = observe.SourceName(v.Name), v.Offset
		}
	}
	switch {
	case name == "":
		return fmt.Sprintf("%#x", off)
	case off == base:
		return name
	}
	return fmt.Sprintf("%s+%#x", name, off-base)
}
