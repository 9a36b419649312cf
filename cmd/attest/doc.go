// Command attest works with GPU kernels as PTX text.
//
// Usage:
//
//	attest ptx check FILE...   parse and verify: every error and warning
//	attest ptx fmt FILE...     print normalised, or rewrite in place
//	attest ptx stats FILE...   registers, memory, instruction mix, minimum target
//	attest version             what this binary is
//
// Exit codes: 0 all is well, 1 a file is bad, 2 the command line is.
//
// # JSON
//
// With --json every command writes one object a line to standard output, and
// nothing else. A command over files writes one object a file, in their order,
// errors included; it always has
//
//	"file"         the path as given, "<stdin>" for standard input
//	"diagnostics"  a list of
//	    "line", "column"   from 1, the column in bytes; 0 for the whole file
//	    "severity"         "error" or "warning"
//	    "kind"             short and stable, "syntax" or "type-mismatch"
//	    "message"          one sentence
//	    "function"         the PTX function, or ""
//	    "source"           what the PTX was made from, "saxpy.go:19:1", or ""
//
// and beside them
//
//	check  "errors", "warnings"  how many
//	fmt    "changed"  the normalised text differs; "written" with -w;
//	       "text" without -w and -l
//	stats  the fields of attest/internal/ptxstat.Module, unless the file has errors
//
// A misuse such as an unknown flag is plain text on standard error.
package main
