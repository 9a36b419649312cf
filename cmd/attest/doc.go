// Command attest judges attention kernels for NVIDIA GPUs, its own and PTX from any compiler.
//
// Usage:
//
//	attest gate [KERNEL...]    judge kernels and keep the evidence
//	attest run KERNEL          run one case and show its errors and its time
//	attest profile KERNEL      show where the time goes
//	attest bench KERNEL...     time kernels against each other and libraries
//	attest compare A B         compare two kernels, or two records of the evidence
//	attest tune KERNEL         search for the three fastest configurations
//	attest rival torch|fa3|triton|jax
//	                           time the attention of another library on this GPU
//	attest ptx check FILE...   find errors in PTX
//	attest ptx fmt FILE...     print PTX in its normal form, or rewrite it in place
//	attest ptx stats FILE...   count registers, memory and instructions
//	attest ptx emit KERNEL     print the PTX of a kernel of attest
//	attest ptx layout [NAME]   show which lane holds each element of a matrix instruction
//	attest ptx cuda-header     print a header with which clang compiles CUDA C++ without CUDA
//	attest exec FILE --launch LAUNCH.json
//	                           run any kernel, compare its output and find its defects
//	attest fuzz                compare two devices on random kernels
//	attest mutate              measure how many planted mistakes the gates find in a kernel
//	attest evidence list|show|verify|diff|export|import
//	                           work with records and verdicts
//	attest report              show the evidence as tables, Markdown or one HTML page
//	attest list                list kernels, shapes, distributions and devices
//	attest doctor              show what this machine can do and which tools are missing
//	attest version             print the version and the revision
//	attest completion bash|zsh|fish
//	                           print a script for the completion of a shell
//
// Flags have one spelling in all commands. --shape takes B,H,S,D, where H may be Hq/Hkv and
// S may be Sq/Skv (1,32/4,512/2048,128), or a name. --mode is graph or event, --cache is
// warm or cold. --format is the format of Q, K and V: e4m3, the default, e5m2, u8 or
// u8-legacy. In u8, one byte u from 0 to 255 means (u-128)/127*448*scale.
//
// Exit codes: 0 success, 1 a file has errors or a result is wrong, 2 the command cannot run:
// the command line is wrong or a file cannot be read.
//
// # JSON
//
// With --json, every command writes one object per line to standard output, and nothing
// else. A command over files writes one object per file, in the order of the files, also for
// files with errors; the object always has
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
//	    "defects"     a list of what is wrong with the kernel, in the order of discovery
//	        "kind"        one that exec --help lists, or what needs no checker:
//	                      "fault", "deadlock", "timeout", "schedule"
//	        "severity"    "error" or "warning"; a warning leaves "ok" true
//	        "message"     what happened
//	        "kernel"      the entry that was launched
//	        an access: where it happened and which threads did it
//	            "ptx_line", "ptx_column"   from 1; 0 when it has no place
//	            "instruction", "source"    the opcode, what the PTX was made from, or ""
//	            "callers"     the source lines that call the function which "source" is
//	                          in, inlined or not, the innermost first
//	            "function"    the PTX function, or ""
//	            "block", "warp", "lanes"   [x,y,z], in the block, a list of numbers;
//	                          warp -1 and no lanes when no threads are known
//	            "action"      "read", "write", "asynchronous write" …, or ""
//	            "space", "address"         "shared", "tile+0x40"; "" for no memory
//	            "variable", "offset", "size"   the parts of the address, and bytes
//	            "span"        "first" and "last", the offsets of all accesses that the
//	                          defect counts, by these threads; absent for one access
//	            "note"        the role of this access in the defect; may be absent
//	        "lane"        the first of "lanes", or -1
//	        "other"       the other access of a race, or what the message refers to: an
//	                      access as above, or null
//	        "wait"        the wait that left the asynchronous copy of a race in flight: an
//	                      access as above, whose "note" says why; may be absent
//	        "why"         the rule that it breaks, or ""
//	        "fix"         what usually repairs it, or ""
//	        "waiters"     of a deadlock: accesses as above, each with "waits_for"
//	        "count"       how often it was seen, over all schedules
//	        "schedule"    the seed of the schedule that showed it first
//	    "output"      what the kernel printed
//	    "stats"       "thread_instructions", "warp_instructions", "seconds"
//	    "counters"    with --counters or --listing: attest/device/emu/count.Counts
//	        "kernel", "warp_instructions", "thread_instructions", "active_lanes"
//	        "families", "opcodes", "special"   lists of "name", "warps", "threads"
//	        "branches"    "executed", "divergent"
//	        "shared"      "requests", "wavefronts", "conflicts"
//	        "global"      "requests", "sectors", "bytes_used", "bytes_moved", "efficiency"
//	        "bytes"       a list of "space", "direction", "by", "bytes"
//	        "barriers"    a list of "ptx_line", "instruction", "arrivals", "threads", "in_vain"
//	        "tensor"      a list of "a", "b", "d" (types), "warps", "operations"
//	        "lines"       a list of "ptx_line", "ptx_column", "function", "instruction",
//	                      "source", "executions", "active", "threads", "divergent",
//	                      "shared", "global"
//
// --sarif writes a file of SARIF 2.1.0: a rule for each kind, a result for each
// defect and each buffer that is not as expected, with the line of PTX as its
// location, the other access, those who wait and the source lines as related
// locations, and the defect as above in its properties.
//
// rival writes one object per shape:
//
//	"library", "shape", "causal", "seed"
//	"skipped"   why nothing was timed (no Python, library or GPU), or ""
//	"failed"    how the Python process ended too early, or ""
//	"hello"     "python", "versions", "device", "uuid", "implementations"; or null
//	"results"   a list, one for each implementation, type, mode and cache
//	    "implementation", "dtype", "mode", "cache"
//	    "note"        how the library does it, or ""
//	    "why", "unsupported"   why it was not timed, and whether that is no failure
//	    "summary"     "n", "p50", "p90", "mean", "std", "min", "max", "cv", "drift",
//	                  "median_interval", in microseconds; or null
//	    "tflops"      by the median
//	    "max_error", "mean_error"   against float64; null when there is NaN
//	"run"       every sample: the fields of attest/timing.Run; or null
//
// doctor writes one object:
//
//	"emulator"  the targets that run without a GPU
//	"gpus"      a list: "index", "name", "target", "sms", "memory", "l2", "uuid",
//	            "cuda", "driver", "max_sm_mhz", "watts_limit", "state_note", and
//	    "state"       null without NVML, else "time", "sm_mhz", "memory_mhz", "watts",
//	                  "joules", "celsius", "performance", "throttle", "processes"
//	"gpu_note"  why there is none, or ""
//	"tools"     a list: "name", "path" ("" when it is missing), "version", "note"
//	"python"    "path", "version", "note", "modules": "name", "version"
//	"lacks"     a list of what is missing: "what", "cost"
//
// list writes one object with the lists that were asked for:
//
//	"kernels"        "name", "base", the preset it builds on or "", "idea"
//	"presets"        "name", "head_dim", "config", "threads", "shared" in bytes,
//	                 "target" of the PTX
//	"toggles"        "family", "name", "values", "what"
//	"shapes"         "name", "shape", "gflop"
//	"distributions"  "name", "what"
//	"devices"        "name", as --device takes it, "what"
//	"chips"          "name", as --chip takes it, "target", "sms", "mhz"
//
// gate writes one object per kernel, as soon as it is judged:
//
//	"kernel"    attest/record.Kernel: "name", "entry", "sha256", "config", …
//	"baseline"  the kernel to beat, or ""
//	"device"    that cases were run on
//	"verdict"   attest/record.Verdict: "outcome", "why", "gates", …
//	"record", "verdict_hash"   in the evidence; "" when nothing is kept
//	"evidence"  the folder, or ""
//	"parity"    "with", "same", "of": on how many cases the bits are those of the kernel
//	            that this one builds on; null where no case is common to both
//	"other_chips"   on which chips the verdict may not hold and why, or ""
//
// run writes one object: "kernel", "shape", "device", "case", attest/record.Case,
// "wrong", a list of what is wrong with it, "defects", attest/record.Defects, null without
// --check, "performance", attest/record.Performance, null on an emulator, and "predicted",
// as profile has it, null on a GPU.
//
// bench writes one object per kernel and group of shapes: "kernel", "baseline", "shapes",
// "skipped", why nothing was timed or "", "wrong", "performance" with every sample, and
// "record", in the evidence or "".
//
// compare writes one object: "a" and "b", attest/record.Record, "difference" as
// evidence diff, and "predicted", null or "a" and "b" as profile has it.
//
// profile writes one object:
//
//	"kernel", "shape"
//	"predicted"   a prediction in microseconds, not a measurement; the sum of all launches
//	    "chip", "blocks", "blocks_of_busiest_sm"
//	    "low_us", "high_us", "limit"   the busiest unit alone, phase by phase, its name
//	    "units"       a list of "unit", "us"
//	    "phases"      a list of "name", "us", "share", "limit", "units"
//	    "lines"       the same with "line", "copies", "source"
//	"ncu"         null, or "us", "tensor", "arithmetic", "memory" in per cent of the
//	              peak, and all "metrics"
//	"ncu_note"    why it is null, or ""
//	"occupancy"   a list: "chip", "blocks_per_sm", "warps", the share of the SM's warps,
//	              "limit", what another block would lack, "registers" per thread,
//	              "shared", bytes per block, "by", the source of the registers
//	"launches"    a list of "entry", "predicted" as above, "counters" as exec has them
//
// tune writes one object: "goal", "tried", "green", "spent", whether the budget ended
// it, "start" and "best", lists of "config", "name", "sha256", "green", "why", "us",
// "ratio" to the start, and "state", the file that the search continues from.
//
// evidence list writes one object per record:
//
//	"hash", "seq", "time", "kernel", "ptx", "format", "target", "device"
//	"shapes"    those that it has errors or times of
//	"outcome", "why", "verdict"   of the newest verdict, with its hash; or ""
//
// evidence show writes one object: "hash", "kind" ("record", "verdict", "note" or "score"), "seq", its
// number in the log, "object", the file as it is (attest/record.Record or Verdict), and
// "verdicts" and "notes", the hashes of those on a record. With --kernel it writes "kernel", the name,
// and "ptx" and "abi", the files.
//
// evidence verify writes one object: "entries", "records", "verdicts", "remarks" (notes), "scores" and "texts" (PTX of
// kernels) that are in order, "head", the hash of the newest entry, and "problems" and
// "notes", lists of "path" and "what".
//
// evidence diff writes one object: "a", "b", "same_ptx", "same_kernel", "parity"; "kernel", "build" and
// "outcome", lists of "what", "a", "b" where texts differ; "resources", "errors" and
// "times", lists of "what", "a", "b", "ratio", null where one has no such figure.
//
// evidence export writes one object: "records", "verdicts", "remarks", "scores", "head", the hash of the newest
// entry, and "bytes".
//
// evidence import writes one object per folder or file: "from", "records", "verdicts", "remarks", "scores",
// "known".
//
// evidence note writes one object: "note" and "record", two hashes. With --file it writes one
// object per note and record: "kernel", "record", "note", "result" ("added", "present",
// "does not fit" or "no record"), and "why" it does not fit, or "".
//
// report writes one object:
//
//	"kernels"   a list: "kernel", "config", "outcome", "why", "record", "ptx", "timed", the record
//	            with its times or ""
//	"shapes"    a list: "device", "shape", "best", the fastest kernel that was not
//	            rejected, "p50" in microseconds, "tflops", "record"
//	"targets"   a list: "name", "metric", "what" it is about, "chip", "unit", "target" and
//	            "current" as texts, "value" and "gap", numbers or null, "by", "status",
//	            "record"
//	"milestones"   a list: "name", "met", "of", "by", "status", "left", the targets that
//	            are not met
//	"ladder"    a list: "device", "shape", "first", the stage that speedups are over, and
//	    "steps"       "kernel", "format", "us", "over_first", "predecessor",
//	                  "over_predecessor", "same_run", "outcome", "record"
//	"check"     as evidence verify
//	"written"   the files that were
//
// report --status writes one object: "time" of the newest record, "head", "targets",
// "milestones" and "ladder" as above, and
//
//	"done", "failed"   lists: "kernel", "format", "chip", "outcome", "why", "record",
//	            "notes", attest/record.Note, "other_chips"
//	"next"      a list: "what", "kernel", "chip", "expected" ("conservative", "realistic",
//	            "optimistic") or null, "from"
//
// A misuse such as an unknown flag is plain text on standard error.
package main
