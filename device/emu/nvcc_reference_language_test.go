package emu_test

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
)

// perThread returns the results of n threads.
func perThread(n int, f func(t int) uint32) []byte {
	var out []uint32
	for t := range n {
		out = append(out, f(t))
	}
	return bytesOf(out...)
}

func refShapes(nvccInputs) []byte {
	return perThread(64, func(t int) uint32 {
		area, scaled := t*t, t*t*3
		if t%2 == 1 {
			area = t * (t + 1)
		}
		if t/2%2 == 1 {
			scaled = t * (t + 1) * 9
		}
		return uint32(area + scaled)
	})
}

func refPointers(in nvccInputs) []byte {
	return perThread(64, func(t int) uint32 {
		acc := int32(t)
		for i := range int32(6) {
			b := i + 1
			switch in.words[(t+int(i))%64] % 4 {
			case 0:
				acc += b
			case 1:
				acc -= b
			case 2:
				acc *= b
			case 3:
				power := int32(1)
				for range b {
					power *= acc
				}
				acc = power
			}
		}
		return uint32(acc)
	})
}

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func refRecursion(nvccInputs) []byte {
	return perThread(48, func(t int) uint32 {
		if t%3 == 0 {
			return uint32(fib(t % 12))
		}
		return uint32(2*(t%5) + 3) // the Ackermann function of 2 and t%5
	})
}

func refStructures(nvccInputs) (out []byte) {
	first := [3][3]float64{{1, 2, -1}, {0, 3, 1}, {2, -2, 1}}
	at := [3]int{2, 0, 1}
	for t := range 32 {
		m := first
		for range t % 4 {
			var p [3][3]float64
			for i := range 3 {
				for j := range 3 {
					for k := range 3 {
						p[i][j] += m[i][k] * first[k][j]
					}
				}
			}
			m = p
		}
		out = append(out, bytes64(math.Float64bits(m[at[t%3]][t%3]*0.5+3))...)
	}
	return out
}

func refLocals(in nvccInputs) []byte {
	return perThread(64, func(t int) uint32 {
		var count [16]uint32
		var ring [5]uint64
		var data [32]uint8
		for i := range 64 {
			v := in.words[(t*31+i)%1024]
			count[v%16]++
			ring[i%5] = uint64(v)
			data[v>>27] = uint8(i)
			data[i%32] ^= uint8(v >> 8)
		}
		sum := ring[0] + ring[1] + ring[2] + ring[3] + ring[4]
		r := uint32(sum) ^ uint32(sum>>32)
		for i := range count {
			r = r*31 + count[(i+t)%16]
		}
		for _, b := range data {
			r = r*33 + uint32(b)
		}
		return r
	})
}

func refConstants(nvccInputs) []byte {
	primes := []uint32{2, 3, 5, 7, 11, 13, 17, 19}
	names := []string{"zero", "one", "two"}
	return perThread(64, func(t int) uint32 {
		o := (t + 5) % 64
		u := uint32(o)
		hash := uint32(0)
		for _, c := range []byte(names[t%3]) {
			hash = hash*131 + uint32(c)
		}
		r := (u ^ 2*u<<8 ^ 3*u<<16) + primes[o%8]*primes[((t+9)%64+1)%8] + hash
		if t == 1 {
			r += 1005
		}
		return r
	})
}

// refInterpreter interprets the words as a program. A thread that returns early does not
// write its result.
func refInterpreter(in nvccInputs) []byte {
	code := bytesOf(in.words...)
	return perThread(64, func(t int) uint32 {
		acc, at := int32(t), t%8
		for steps := 0; steps < 200 && at < 200; steps++ {
			op := code[at]
			at++
			switch op % 11 {
			case 0:
				acc += 7
			case 1:
				acc -= int32(op)
			case 2:
				acc = acc*3 + 1
			case 3:
				acc ^= acc >> 3
			case 4:
				at += int(acc&1) * 2
			case 5:
				acc = -acc
			case 6:
				if acc%5 == 0 {
					at = max(at-17, 0)
					if at <= 3 {
						at = 0
					}
				}
			case 7:
				acc = int32(bits.Reverse32(uint32(acc)))
			case 8:
				acc += int32(fib(int(op % 5)))
			case 9:
				if acc&0xff == 0x5a {
					return math.MaxUint32
				}
			default:
				acc = int32(bits.RotateLeft32(uint32(acc), 5))
			}
		}
		return uint32(acc)
	})
}

func refTranspose(in nvccInputs) []byte {
	return perThread(4096, func(i int) uint32 { return in.words[i%64*64+i/64] })
}

func refLife(in nvccInputs) []byte {
	const w, h = 50, 40
	data := bytesOf(in.words...)
	out := make([]byte, w*h)
	for i := range out {
		n := -int(data[i] & 1)
		for dy := range 3 {
			for dx := range 3 {
				n += int(data[(i/w+dy+h-1)%h*w+(i%w+dx+w-1)%w] & 1)
			}
		}
		if n == 3 || n == 2 && data[i]&1 == 1 {
			out[i] = 1
		}
	}
	return out
}

func refPhilox(nvccInputs) []byte {
	var out []uint32
	for i := range uint32(256) {
		c := [4]uint32{i, i * 3, 0, 42}
		k0, k1 := uint32(12345), uint32(67890)
		for range 10 {
			h0, l0 := bits.Mul32(0xD2511F53, c[0])
			h1, l1 := bits.Mul32(0xCD9E8D57, c[2])
			c = [4]uint32{h1 ^ c[1] ^ k0, l1, h0 ^ c[3] ^ k1, l0}
			k0, k1 = k0+0x9E3779B9, k1+0xBB67AE85
		}
		out = append(out, c[:]...)
	}
	return bytesOf(out...)
}

func refCollatz(in nvccInputs) []byte {
	return perThread(256, func(t int) (n uint32) {
		for v := uint64(in.words[t]%100000 + 1); v != 1; n++ {
			if v&1 == 1 {
				v = 3*v + 1
			} else {
				v /= 2
			}
		}
		return n
	})
}

func refEditDistance(in nvccInputs) []byte {
	a, b := bytesOf(in.words...)[:100], bytesOf(in.others...)[:100]
	row := make([]int, 101)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before := row[0]
		row[0] = i + 1
		for j := range b {
			d := before
			if a[i]&3 != b[j]&3 {
				d++
			}
			before = row[j+1]
			row[j+1] = min(d, row[j]+1, row[j+1]+1)
		}
	}
	return bytesOf(uint32(row[100]))
}

// fma32 returns a·b + c rounded once. The operands are small, so the sum is never close to
// the ends of the range.
func fma32(a, b, c float32) float32 {
	p := new(big.Float).SetPrec(300).Mul(big.NewFloat(float64(a)), big.NewFloat(float64(b)))
	v, _ := p.Add(p, big.NewFloat(float64(c))).Float32()
	return v
}

func floats(data []byte) []float32 {
	var f []float32
	for _, w := range u32s(data) {
		f = append(f, math.Float32frombits(w))
	}
	return f
}

func refNaive(in nvccInputs) []byte {
	return perThread(1024, func(i int) uint32 {
		sum := float32(0)
		for k := range 32 {
			sum = fma32(in.gauss[i/32*32+k], in.gauss[k*32+i%32], sum)
		}
		return math.Float32bits(sum)
	})
}

func refWmmaBytes(in nvccInputs) []byte {
	a, b := bytesOf(in.words...), bytesOf(in.others...)
	return perThread(256, func(i int) uint32 {
		sum := int32(7)
		for k := range 16 {
			sum += int32(int8(a[i/16*16+k])) * int32(int8(b[i%16*16+k]))
		}
		return uint32(sum)
	})
}

// refWgmma computes an exact 64×32 product of small integers with depth k.
func refWgmma(k int, at func(n, k int) int, first func(row, col int) float64, sign float64) func(nvccInputs) []byte {
	return func(in nvccInputs) []byte {
		return perThread(64*32, func(i int) uint32 {
			row, col := i/32, i%32
			sum := first(row, col)
			for e := range k {
				sum += sign * in.small[row*k+e] * in.small[at(col, e)]
			}
			return math.Float32bits(float32(sum))
		})
	}
}

// wgmmaFirst returns the number of the register that holds an element.
func wgmmaFirst(row, col int) float64 { return float64(col/8*4 + row%16/8*2 + col%2) }

func refWgmmaBytes(in nvccInputs) []byte {
	a, b := bytesOf(in.words...), bytesOf(in.others...)
	return perThread(64*8, func(i int) uint32 {
		row, col := i/8, i%8
		sum := int32(5 + row%16/8*2 + col%2)
		for k := range 32 {
			sum += int32(int8(a[32*row+k])) * int32(b[32*col+k])
		}
		return uint32(sum)
	})
}

// wholeHalves returns the values of f16 numbers, which are small integers.
func wholeHalves(data []byte) []float64 {
	var f []float64
	for i := 0; i < len(data); i += 2 {
		h := binary.LittleEndian.Uint16(data[i:])
		v := math.Ldexp(float64(h&0x3ff|0x400), int(h>>10&31)-25)
		if h&0x7fff == 0 {
			v = 0
		}
		if h>>15 == 1 {
			v = -v
		}
		f = append(f, v)
	}
	return f
}
