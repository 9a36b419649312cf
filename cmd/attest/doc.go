// Command attest works with GPU kernels as PTX text.
//
// Usage:
//
//	attest ptx check FILE...   parse and verify: every error and warning
//	attest ptx fmt FILE...     print normalised, or rewrite in place
//	attest ptx stats FILE...   registers, memory, instruction mix, minimum target
//	attest exec FILE --launch LAUNCH.json
//	                           run kernels and compare what they write
//	attest version             what this binary is
//
// Exit codes: 0 all is well, 1 a file or a result is bad, 2 the command line is.
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
// exec writes one object:
//
//	"device"    what it ran on, "emulated sm_90a"
//	"schedules" how many were tried
//	"launches"  a list of those that ran, in their order
//	    "entry"       the kernel
//	    "ok"          no mismatch and no error
//	    "compared", "mismatches"   elements, of all buffers with an "expect"
//	    "buffers"     a list of those buffers
//	        "what", "expect", "type"   "parameter 1", the file, how it was read
//	        "compared", "mismatches"
//	        "max_abs", "max_rel", "max_ulp"   the largest differences; null when infinite
//	        "first"   the first mismatches: "index", "got", "want"
//	    "defects"     a list of what is wrong with the kernel
//	        "kind"        "fault", "deadlock", "timeout", "schedule" …
//	        "severity"    "error" or "warning"
//	        "message"
//	        "ptx_line", "ptx_column"   from 1; 0 when it has no place
//	        "instruction", "source"    the opcode, what the PTX was made from, or ""
//	        "block", "warp", "lane"    who did it; warp and lane -1 for no one
//	        "schedule"    the seed it happened with
//	    "output"      what the kernel printed
//	    "stats"       "thread_instructions", "warp_instructions", "seconds"
//
// A misuse such as an unknown flag is plain text on standard error.
package main
