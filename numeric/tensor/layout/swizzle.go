package layout

// Swizzle returns the offset at which the byte at an offset of a tile is stored under a
// swizzle of 32, 64 or 128 bytes. For 16 bytes it returns the offset unchanged. The copy
// engine and wgmma use the same swizzles. A swizzle permutes units of 16 bytes, so that the
// same unit of eight rows is in different banks. The tile must be aligned to eight rows.
func Swizzle(bytes, offset int) int { return offset ^ (offset>>7&(bytes/16-1))<<4 }
