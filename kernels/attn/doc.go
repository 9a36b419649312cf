// Package attn holds what all families of attention kernels have in common: the operands of
// attention, and the interface [Family] for choosing, building and tuning kernels. The
// families are the folders below: stages, ada, hopper and decode.
//
// A family turns a problem, a chip and a configuration into a [kernel.Kernel]. Its
// configurations are JSON objects, so that records, tuning states and command lines can
// hold those of any family.
package attn
