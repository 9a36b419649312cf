package stats_test

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/stats"
)

func ExampleSummarise() {
	s := stats.Summarise([]float64{6.8, 6.7, 6.7, 6.9, 9.2, 6.7, 6.8, 6.6})
	fmt.Printf("median %.2f µs, p90 %.2f, between %.1f and %.1f\n", s.P50, s.P90, s.Median.Low, s.Median.High)
	// Output: median 6.75 µs, p90 7.59, between 6.6 and 9.2
}

func ExampleCompare() {
	c, err := stats.Compare([]stats.Replicate{
		{Old: []float64{10.1, 10.0, 10.2}, New: []float64{9.0, 9.1, 9.0}},
		{Old: []float64{10.3, 10.1, 10.2}, New: []float64{9.2, 9.1, 9.1}},
		{Old: []float64{10.0, 10.0, 10.1}, New: []float64{9.0, 9.1, 9.0}},
	}, stats.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f of the time; it could have seen %.1f %%\n", c.Ratio, 100*c.Detectable)
	fmt.Println("more than 5 % apart:", c.Differs(0.05))
	// Output:
	// 0.894 of the time; it could have seen 3.4 %
	// more than 5 % apart: true
}
