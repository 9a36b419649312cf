package problem_test

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/problem"
)

func ExampleParseShape() {
	s, err := problem.ParseShape("2,32/8,1/4096,128")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Q(), s.K(), s.HeadKV(31))
	// Output: [2,32,1,128] [2,8,4096,128] 7
}
