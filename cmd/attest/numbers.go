package main

import (
	"fmt"
	"strconv"
)

// parseSeeds reads the values of --seeds; 0 and 1 when there are none.
func parseSeeds(words []string) (seeds []uint64, err error) {
	if len(words) == 0 {
		return []uint64{0, 1}, nil
	}
	for _, w := range words {
		n, err := strconv.ParseUint(w, 0, 64)
		if err != nil {
			return nil, fmt.Errorf("--seeds: %q is no number from 0 on", w)
		}
		seeds = append(seeds, n)
	}
	return seeds, nil
}
