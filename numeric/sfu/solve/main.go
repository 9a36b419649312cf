// Command solve computes the coefficients of package sfu from the results of a GPU.
//
//	solve DIR > ztables.go
//
// DIR contains one file NAME.bin per function. It holds the results as little-endian words,
// for all consecutive arguments of a range: ex2 and rcp over [1, 2), rsqrt and sqrt over
// [1, 4), lg2 over [½, 2), sin over [1, 4). For tanh it holds the results for every sixteenth
// argument of [2^-8, 8).
package main

import (
	"encoding/binary"
	"log"
	"os"
	"path/filepath"

	"github.com/GOATnote-Inc/attest/numeric/sfu"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("solve: ")
	if len(os.Args) != 2 {
		log.Fatal("usage: solve DIR > ztables.go")
	}
	src, err := sfu.Solve(func(name string) ([]uint32, error) {
		b, err := os.ReadFile(filepath.Join(os.Args[1], name+".bin"))
		if err != nil {
			return nil, err
		}
		words := make([]uint32, len(b)/4)
		for i := range words {
			words[i] = binary.LittleEndian.Uint32(b[4*i:])
		}
		return words, nil
	})
	if err != nil {
		log.Fatal(err)
	}
	os.Stdout.Write(src)
}
