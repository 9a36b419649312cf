package predict

import (
	"math"

	"github.com/GOATnote-Inc/attest/internal/chips"
)

// clock returns the clock in MHz at which a launch runs whose profile at the highest clock is p. The power that a chip draws
// depends on what its SMs do, above all on its tensor cores. It may exceed the limit for a short time, so a short launch runs
// at the highest clock. The clock of longer launches falls to the one at which the power is the limit.
func clock(chip *chips.Chip, p *Profile) float64 {
	highest := float64(chip.MHz)
	lowest := sustained(chip, p.power(chip))
	from, to := chip.Get("boost_us"), chip.Get("limited_us")
	limited := math.Log(p.Micros/from) / math.Log(to/from) // 0 before the limit has an effect, 1 when it has its full effect
	return math.Round(highest - (highest-lowest)*min(max(limited, 0), 1))
}

// power returns the power in watts that the SMs would draw at the highest clock, beyond that of an idle chip.
func (p *Profile) power(chip *chips.Chip) float64 {
	watts := 0.0
	for _, b := range p.Units {
		switch b.Unit {
		case Tensor:
			watts += chip.Get("tensor_w") * b.Micros / p.Micros
		case Issue:
			watts += chip.Get("issue_w") * b.Micros / p.Micros
		}
	}
	return watts * min(float64(p.Blocks)/float64(chip.SMs), 1)
}

// sustained returns the clock in MHz at which SMs that would draw a power in watts at the highest clock stay within the limit
// of the chip. A lower clock needs a lower voltage, so the power falls with the third power of the clock.
func sustained(chip *chips.Chip, watts float64) float64 {
	return float64(chip.MHz) * math.Cbrt(min((chip.Get("power_w")-chip.Get("idle_w"))/max(watts, 1e-9), 1))
}
