package check

import "testing"

func TestLanes(t *testing.T) {
	for m, want := range map[uint32]string{
		1 << 31: "lane 31", 0b1111: "lanes 0-3", 0b100001111: "lanes 0-3,8", 1<<32 - 1: "all lanes",
		0x55555555: "lanes 0,2,…,30", 0xaaaaaaaa: "lanes 1,3,…,31", 0x01010101: "lanes 0,8,…,24",
		0b10101: "lanes 0,2,4", 0x55555554 | 1<<31: "lanes 2,4,6,8,10,12,14,16,18,20,22,24,26,28,30-31", 0xffff0000: "lanes 16-31",
	} {
		if got := Lanes(m); got != want {
			t.Errorf("%08x is %q, want %q", m, got, want)
		}
	}
}
