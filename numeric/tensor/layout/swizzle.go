package layout

// Swizzle is where the byte at an offset of a tile is kept under the swizzle of so many
// bytes (32, 64 or 128; 16 changes nothing) that the copy engine and wgmma share. It permutes units of 16
// bytes, so that the same unit of eight rows lies in different banks. The tile must be
// aligned to eight rows.
func Swizzle(bytes, offset int) int { return offset ^ (offset>>7&(bytes/16-1))<<4 }
