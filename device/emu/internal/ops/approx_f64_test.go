package ops

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"testing"
)

// TestHighWordAgainstCard compares the approximate functions of f64 with an H200. Each
// line of testdata/h200-f64.crc holds the function, the first of 2^20 consecutive high
// words of the operands, the low word of all operands, and two CRC-32 sums: of the high
// words and of the low words of the results.
func TestHighWordAgainstCard(t *testing.T) {
	text, err := os.ReadFile("testdata/h200-f64.crc")
	if err != nil {
		t.Fatal(err)
	}
	funcs := map[string]func(uint64) uint64{"rcp.approx.ftz.f64": rcpHigh, "rsqrt.approx.ftz.f64": rsqrtHigh}
	high, low := make([]byte, 4<<20), make([]byte, 4<<20)
	for line := range strings.Lines(string(text)) {
		var name, wantHigh, wantLow string
		var first, rest uint32
		if _, err := fmt.Sscanf(line, "%s %x %x %s %s", &name, &first, &rest, &wantHigh, &wantLow); err != nil {
			t.Fatal(err)
		}
		for i := range uint32(1 << 20) {
			r := funcs[name](uint64(first+i)<<32 | uint64(rest))
			binary.LittleEndian.PutUint32(high[4*i:], uint32(r>>32))
			binary.LittleEndian.PutUint32(low[4*i:], uint32(r))
		}
		gotHigh, gotLow := fmt.Sprintf("%08x", crc32.ChecksumIEEE(high)), fmt.Sprintf("%08x", crc32.ChecksumIEEE(low))
		if gotHigh != wantHigh || gotLow != wantLow {
			t.Errorf("%s from %08x%08x: CRC %s %s, on the card %s %s", name, first, rest, gotHigh, gotLow, wantHigh, wantLow)
		}
	}
}
