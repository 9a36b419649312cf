package nvml_test

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/device/nvml"
)

func ExampleList() {
	gpus, err := nvml.List()
	if err != nil {
		fmt.Println(err) // there is no NVIDIA driver
		return
	}
	for _, g := range gpus {
		s, _ := g.State()
		fmt.Printf("%s at %d MHz, %d °C, slowed by: %v\n", g.Info().Name, s.SMClock, s.Temperature, s.Throttle.Slowed())
	}
}
