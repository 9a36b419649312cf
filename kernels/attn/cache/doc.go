// Package cache writes kernels that append the keys and values of new tokens to an FP8 cache, as a
// server does before each step of attention: they rotate K (rotary embeddings), quantise K and V,
// and store them behind the keys that each sequence has.
//
// New tokens are f16 or bf16, [B,Snew,Hkv,D], or packed, [total_new,Hkv,D] with cu_seqlens_k_new.
// cache_seqlens has the length of each sequence before the call: token i of a sequence becomes key
// cache_seqlens+i. The cache is paged or padded, in either layout, as package decode reads it.
//
// Scales of tensors and heads are given. Scales of tokens are computed, the largest magnitude of a
// row divided by the largest number of the format, and written beside the keys. A token whose
// position is beyond the room of its sequence is not stored.
//
// Arithmetic is in f32, in an order that is fixed, so the bytes do not depend on the batch.
package cache
