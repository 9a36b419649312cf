// Package cache writes kernels that append the keys and values of new tokens to an FP8 cache, as a
// server does before each step of attention. They rotate K (rotary embeddings), quantise K and V,
// and store them behind the existing keys of each sequence.
//
// New tokens are f16 or bf16, [B,Snew,Hkv,D], or packed, [total_new,Hkv,D] with cu_seqlens_k_new.
// cache_seqlens has the length of each sequence before the call: token i of a sequence becomes key
// cache_seqlens+i. The cache is paged or padded, in either layout, as package decode reads it.
//
// Scales per tensor or per head are inputs. Scales per token are computed (the largest magnitude of
// the row, divided by the largest number of the format) and stored beside the keys. A token for
// which its sequence has no room is not stored.
//
// All arithmetic is in f32 and in a fixed order, so the bytes do not depend on the batch.
package cache
