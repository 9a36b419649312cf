package predict

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/internal/predict/warptrace"
)

// leastContended is the share of the time from which updates of one address are worth a note.
const leastContended = 0.05

// notes says what the replay leaves out that matters for a launch: it does not know how fast the L2 serialises
// updates of one address. One per cycle is what NVIDIA has published for Kepler; the rate of later chips was not measured.
func notes(l *warptrace.Launch, micros, mhz float64) (list []string) {
	if n := contended(l); float64(n)/mhz > leastContended*micros {
		list = append(list, fmt.Sprintf("the predicted time leaves out that %d atomic updates of one address wait for each other: at one per cycle they alone take %.3g µs", n, float64(n)/mhz))
	}
	return list
}

// contended estimates how often a launch updates the address of global memory that it updates most. An address that
// several recorded clusters update counts as an address of all clusters.
func contended(l *warptrace.Launch) int {
	sum, users := map[uint64]int{}, map[uint64]int{}
	for _, c := range l.Clusters {
		for at, n := range c.Updates {
			sum[at] += n
			users[at]++
		}
	}
	most := 0
	for at, n := range sum {
		if users[at] > 1 {
			n = n * l.Count / len(l.Clusters)
		}
		most = max(most, n)
	}
	return most
}
