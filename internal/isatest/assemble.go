package isatest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
)

// Assemble assembles a whole module with ptxas. The error quotes each line that ptxas
// refuses.
func (a *Assembler) Assemble(m *ptx.Module, flags ...string) error {
	text := m.String()
	out, err := a.run(text, m.Target, flags)
	if err == nil {
		return nil
	}
	lines := strings.Split(text, "\n")
	var b strings.Builder
	for _, c := range errorPattern.FindAllStringSubmatch(out, -1) {
		if n, _ := strconv.Atoi(c[1]); n > 0 && n <= len(lines) {
			fmt.Fprintf(&b, "\n%s: %s", strings.TrimSpace(lines[n-1]), c[2])
		}
	}
	if b.Len() == 0 {
		b.WriteString("\n" + out)
	}
	return fmt.Errorf("ptxas -arch %s, PTX %s: %w%s", m.Target, m.Version, err, b.String())
}
