// Package repo tests the repository itself. It checks that imports go one way, that every
// package says what it is for and has a row in docs/architecture.md, that files stay short,
// that links between documents lead somewhere, and that every command, result and picture
// in a document is what attest produces today. With -compile it also measures how long the
// packages take to compile.
package repo
