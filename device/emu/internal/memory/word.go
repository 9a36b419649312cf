package memory

import "encoding/binary"

// Word returns the little-endian value of 1, 2, 4 or 8 bytes.
func Word(b []byte) uint64 {
	switch len(b) {
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	case 8:
		return binary.LittleEndian.Uint64(b)
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	}
	return uint64(b[0])
}

// PutWord writes the low bytes of v to b, which has 1, 2, 4 or 8 bytes.
func PutWord(b []byte, v uint64) {
	switch len(b) {
	case 4:
		binary.LittleEndian.PutUint32(b, uint32(v))
	case 8:
		binary.LittleEndian.PutUint64(b, v)
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(v))
	default:
		b[0] = byte(v)
	}
}
