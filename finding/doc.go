// Package finding holds what is found wrong with a kernel, as plain data.
//
// The verifier, the checkers of the emulator and a launch that fails all report a
// [Finding]. The same value goes to the terminal, to JSON, to SARIF, into the
// evidence and onto the page, so that no step loses what an earlier one knew.
//
// [Same] is the only rule for duplicates and [Finding.Merge] the only way to join
// them. A [List] applies both.
//
// A [Rule] explains a [Kind]. The rules of the checkers are registered in package
// device/emu/check, those of the verifier are in package ptx/verify; [Rules] holds
// the remaining ones.
package finding
