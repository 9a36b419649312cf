package simd

// Has reports whether this processor can run the loops. Every arm64 processor has NEON.
const Has = true
