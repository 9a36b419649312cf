// Package shapes reads and writes shapes as the command line names them: by a name such as
// mission, or by extents B,H,S,D, where H may be Hq/Hkv and S may be Sq/Skv.
package shapes
