// Package release builds the archives of a release: one per system and architecture, with checksums
// and a list of what the binaries are made of. The same commit, version and Go give the same bytes.
package release
