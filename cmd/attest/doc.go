// Command attest judges attention kernels for NVIDIA GPUs, its own and PTX from any compiler.
//
// Usage:
//
//	attest gate [KERNEL…]      judge kernels and keep the evidence
//	attest run KERNEL          run one case and show its errors and its time
//	attest profile KERNEL      show where the time goes
//	attest explain KERNEL      show which changes would make a kernel faster
//	attest bench KERNEL…       time kernels against each other and libraries
//	attest compare A B         compare two kernels, or two records of the evidence
//	attest tune KERNEL         search for the three fastest configurations
//	attest rival torch|fa3|triton|jax
//	                           time the attention of another library on this GPU
//	attest ptx check FILE…     find errors in PTX
//	attest ptx fmt FILE…       print PTX in its normal form, or rewrite it in place
//	attest ptx stats FILE…     count registers, memory and instructions
//	attest ptx emit KERNEL     print the PTX of a kernel of attest
//	attest ptx layout [NAME]   show which lane holds each element of a matrix instruction
//	attest ptx cuda-header     print a header with which clang compiles CUDA C++ without CUDA
//	attest exec FILE --launch LAUNCH.json
//	                           run any kernel, compare its output and find its defects
//	attest fuzz                compare two devices on random kernels
//	attest mutate              measure how many planted mistakes the gates find in a kernel
//	attest evidence list|show|verify|diff|export|import|note|heads|keygen
//	                           work with records and verdicts
//	attest report              show the evidence as tables, Markdown or one HTML page
//	attest list                list kernels, shapes, distributions and devices
//	attest diff A [B]          find the first intermediate value in which two kernels differ
//	attest watch COMMAND …     repeat a command when its files change
//	attest mcp                 serve commands to coding agents over the Model Context Protocol
//	attest export torch|cupy|c|ptx
//	                           write kernels for PyTorch, CuPy, C and other programs
//	attest remote add|remove|list|clean
//	                           name other machines for --on, and clean up there
//	attest doctor              show what this machine can do and which tools are missing
//	attest version             print the version and the revision
//	attest man FOLDER          write a manual page for every command
//	attest release VERSION     build the archives of a release from a clone
//	attest completion bash|zsh|fish
//	                           print a script for the completion of a shell
//
// Flags have the same names and values in all commands:
//
//	--shape    B,H,S,D, or a name. H may be Hq/Hkv and S may be Sq/Skv: 1,32/4,512/2048,128
//	--mode     graph or event
//	--cache    warm or cold
//	--format   the format of Q, K and V: e4m3 (the default), e5m2, u8 or u8-legacy. In u8, a
//	           byte u from 0 to 255 means (u-128)/127*448*scale
//
// The exit codes are:
//
//	0   success
//	1   a file has errors, or a result is wrong
//	2   the command cannot run: the command line is wrong, or a file cannot be read
//	3   an internal error: attest itself failed. The message names the folder with the inputs
//	130 Ctrl-C or a request to terminate
//
// # JSON
//
// With --json, every command writes one JSON object per line to standard output, and nothing
// else. Errors in the command line, such as an unknown flag, are plain text on standard error.
// The sections below list the fields. A text that does not apply is "", and an object that does
// not apply is null. Names such as record.Case are Go types of the package attest/record, whose
// documentation lists their fields. The help of fuzz and mutate lists the fields of those
// commands.
//
// # JSON of ptx check, fmt and stats
//
// One object per file, in the order of the files, also for files with errors:
//
//	"file"          the path as given, or "<stdin>" for standard input
//	"diagnostics"   a list of errors and warnings:
//	    "line", "column"   the position, from 1; the column is in bytes; 0 means the whole file
//	    "severity"         "error", "warning" or "note"
//	    "kind"             a short, stable name such as "syntax" or "type-mismatch"
//	    "message"          one sentence
//	    "function"         the PTX function
//	    "source"           the source line of the PTX, such as "saxpy.go:19:1"
//
// check adds:
//
//	"errors", "warnings"   the numbers of errors and warnings
//
// fmt adds:
//
//	"changed"   whether the normal form differs from the text
//	"written"   with -w: whether the file was rewritten
//	"text"      without -w and -l: the normal form
//
// stats adds the fields of attest/internal/ptxstat.Module if the file has no errors.
//
// emit has no file. It writes "kernel", "target", "entries", "identity", "sha256", and "ptx": the
// text or, with -o, the name of the file.
//
// # JSON of exec
//
// One object:
//
//	"device"      the device that ran the kernel, such as "emulated sm_90a"
//	"schedules"   the number of schedules that were tried
//	"launches"    a list of the launches that ran, in their order:
//	    "entry"                    the kernel
//	    "module"                   its PTX file, if the launch names another one
//	    "ok"                       true if there was no mismatch and no error
//	    "compared", "mismatches"   the numbers of elements, over all buffers with an "expect"
//	    "buffers"                  a list of these buffers, see below
//	    "defects"                  a list of defects in the order of discovery, see below
//	    "output"                   the text that the kernel printed
//	    "stats"                    "thread_instructions", "warp_instructions", "seconds"
//	    "counters"                 with --counters or --listing, see below
//	    "other_fma"                the mode of --fma without mismatches, if this one has some
//
// A buffer has:
//
//	"what"                            such as "parameter 1"
//	"expect", "type"                  the file with the expected values, and its type
//	"compared", "mismatches"          the numbers of elements
//	"max_abs", "max_rel", "max_ulp"   the largest differences; null if infinite
//	"first"                           a list of the first mismatches: "index", "got", "want"
//
// A defect has:
//
//	"kind"       a kind that exec --help lists, or one that needs no checker: "fault",
//	             "deadlock", "timeout" or "schedule"
//	"severity"   "error", "warning" or "note"; only an error makes "ok" false
//	"message"    what happened
//	"kernel"     the entry that was launched
//	"lane"       the first of "lanes", or -1
//	"other"      the other access of a race, or the access that the message mentions: an
//	             object with the fields of an access, or null
//	"wait"       the wait that left the asynchronous copy of a race in flight: an object with
//	             the fields of an access, whose "note" says why; may be absent
//	"pairs"      other pairs of warps that race in the same way, a few of them: a list of
//	             "warp", "other" and "span"; may be absent
//	"why"        the rule that the kernel breaks
//	"fix"        what usually repairs the defect
//	"waiters"    for a deadlock: a list of accesses, each with "waits_for"
//	"count"      the number of times that the defect was seen, over all schedules
//	"schedule"   the seed of the first schedule that showed it
//
// A defect also has the fields of an access:
//
//	"ptx_line", "ptx_column"       the position from 1; 0 if there is none
//	"instruction"                  the opcode
//	"source"                       the source line of the instruction
//	"callers"                      a list of the source lines that call the function of
//	                               "source", innermost first, inlined or not
//	"function"                     the PTX function
//	"block"                        [x,y,z]
//	"warp", "lanes"                the warp in the block and a list of lanes; -1 and an empty
//	                               list if the threads are not known
//	"action"                       "read", "write", "asynchronous write", …
//	"space", "address"             such as "shared" and "tile+0x40"; "" without memory
//	"variable", "offset", "size"   the parts of the address, and the size in bytes
//	"span"                         "first" and "last": the offsets of all accesses that the
//	                               defect counts, by these threads; absent for one access
//	"note"                         the role of the access in the defect; may be absent
//
// The counters are attest/device/emu/count.Counts:
//
//	"kernel"                             the entry
//	"warp_instructions", "thread_instructions", "active_lanes"
//	"families", "opcodes", "special"     lists of "name", "warps", "threads"
//	"branches"                           "executed", "divergent"
//	"shared"                             "requests", "wavefronts", "conflicts"
//	"global"                             "requests", "sectors", "bytes_used", "bytes_moved",
//	                                     "efficiency"
//	"bytes"                              a list of "space", "direction", "by", "bytes"
//	"barriers"                           a list of "ptx_line", "instruction", "arrivals",
//	                                     "threads", "in_vain"
//	"tensor"                             a list of "a", "b", "d" (types), "warps",
//	                                     "operations"
//	"lines"                              a list of "ptx_line", "ptx_column", "function",
//	                                     "instruction", "source", "executions", "active",
//	                                     "threads", "divergent", "shared", "global"
//
// --sarif writes a SARIF 2.1.0 file. It has one rule per kind, and one result per defect and
// per buffer with mismatches. The location of a result is the line of PTX. Its related
// locations are the other access, the waiting threads and the source lines. Its properties
// hold the fields of the defect.
//
// # JSON of gate
//
// One object per kernel, written when the kernel has been judged:
//
//	"kernel"         record.Kernel: "name", "entry", "sha256", "config", …
//	"baseline"       the kernel to beat
//	"device"         the device that ran the cases
//	"verdict"        record.Verdict: "outcome", "why", "gates", …
//	"record", "verdict_hash"
//	                 the hashes in the evidence; "" if no evidence is kept
//	"evidence"       the folder of the evidence
//	"parity"         "with", "same", "of": the kernel that this one builds on, the number of
//	                 cases with the same bits, and the number of common cases; null if there
//	                 are none
//	"other_chips"    the chips on which the verdict may not hold, and why
//
// # JSON of run
//
// One object:
//
//	"kernel", "shape", "device"
//	"case"          record.Case
//	"wrong"         a list of what is wrong with the result
//	"defects"       record.Defects; null without --check
//	"performance"   record.Performance; null on the emulator
//	"predicted"     as in profile; null on a GPU
//
// # JSON of bench
//
// One object per kernel and group of shapes:
//
//	"kernel", "baseline", "shapes"
//	"skipped"       why nothing was timed
//	"wrong"         a list of what is wrong with the kernel; a wrong kernel is not timed
//	"performance"   record.Performance, with every sample
//	"record"        the hash in the evidence
//
// # JSON of compare
//
// One object:
//
//	"a", "b"       record.Record
//	"difference"   as in evidence diff
//	"predicted"    null, or "a" and "b", each as in profile, and "difference": "us", and the lists
//	               "reasons" and "phases" of "name", "a", "b", "difference" and "mostly"
//
// # JSON of profile
//
// One object:
//
//	"kernel", "shape"
//	"predicted"   a prediction, not a measurement: the sum over all launches
//	    "chip", "blocks", "blocks_of_busiest_sm"
//	    "us"                 the predicted time, in µs
//	    "low_us", "high_us"  the band in which most kernels of its class lie
//	    "floor_us"           the time of the busiest unit alone
//	    "limit"              the name of the busiest unit
//	    "mhz"                the clock of the SMs
//	    "units"              a list of "unit", "us"
//	    "reasons"            a list of "reason", "us": what the SMs do or wait for
//	    "phases"             a list of "name", "us", "share", "reasons"
//	    "lines"              a list with the fields of a phase and "line", "copies", "source"
//	    "notes"              sentences about what the prediction leaves out, if there are any
//	"ncu"         null, or "us", "tensor", "arithmetic" and "memory" in per cent of the peak,
//	              "metrics", all metrics of ncu by name, their "units", and ncu's "version"
//	"ncu_note"    why "ncu" is null
//	"record"      with --evidence: the hash of the record that keeps "ncu"; otherwise ""
//	"occupancy"   a list of "chip", "blocks_per_sm", "warps" (the share of the SM's warps),
//	              "limit" (the resource that another block would lack), "registers" per
//	              thread, "shared" (bytes per block), "by" (the source of the registers)
//	"launches"    a list of "entry", "predicted" as above, "counters" as in exec
//
// # JSON of explain
//
// One object:
//
//	"kernel", "shape"   "shape" is "" with a launch file
//	"predicted"         as in profile
//	"tried"             the number of changes that were simulated
//	"changes"           the best first, a list of
//	    "kind", "what"         "bank conflicts" and a sentence
//	    "launch"               the entry that the change is about
//	    "source", "ptx_line"   the line that the change is about, if it is about one
//	    "us", "gain"           the time with the change, and what it saves, in µs
//	    "share"                "gain" over the present time
//	    "bound"                whether no change of that kind can give more
//
// # JSON of tune
//
// One object:
//
//	"goal"             what the search optimises
//	"tried", "green"   the numbers of configurations that were tried and that passed
//	"spent"            whether the budget ended the search
//	"start", "best"    the first configuration, and a list of the best: "config", "name",
//	                   "sha256", "green", "why", "us", "ratio" to the start
//	"state"            the file from which the search continues
//
// # JSON of capture
//
// One object:
//
//	"folder"     where the files are
//	"launches"   a list of the launches that were recorded: "kernel", "launch" and "ptx" (files in
//	             the folder), "grid", "block", "shared" (bytes), "bytes" (of all buffers); or
//	             "kernel" and "skipped", the reason why launches of it were not recorded
//
// # JSON of rival
//
// One object per shape:
//
//	"library", "shape", "causal", "seed"
//	"skipped"   why nothing was timed: no Python, no library or no GPU
//	"failed"    how the Python process ended too early
//	"hello"     "python", "versions", "device", "uuid", "implementations"; or null
//	"results"   a list with one object per implementation, type, mode and cache:
//	    "implementation", "dtype", "mode", "cache"
//	    "note"                      how the library computes the result
//	    "why", "unsupported"        why it was not timed; true if that is not a failure
//	    "summary"                   "n", "p50", "p90", "mean", "std", "min", "max", "cv",
//	                                "drift", "median_interval", in µs; or null
//	    "tflops"                    the rate for the median
//	    "max_error", "mean_error"   the errors against float64; null if there is a NaN
//	"run"       attest/timing.Run, with every sample; or null
//
// # JSON of list
//
// One object with the lists that were requested:
//
//	"kernels"         "name", "base" (the preset that it builds on), "idea"
//	"presets"         "name", "head_dim", "config", "threads", "shared" in bytes, "target"
//	"toggles"         "family", "name", "values", "what"
//	"shapes"          "name", "shape", "gflop"
//	"distributions"   "name", "what"
//	"devices"         "name" (a value of --device), "what"
//	"chips"           "name" (a value of --chip), "target", "sms", "mhz"
//
// # JSON of diff
//
// One object: "a" and "b" (the kernels), "shape", "device", "tile_q", "tile_kv", "bad_weights",
// "bad_outputs", "first" (null, or "value", "batch", "head", "row", "key" and "why") and "tiles", a
// list of "batch", "head", "row" and "keys" (. agrees, x differs).
//
// # JSON of export
//
// With -o, one object: "kind", "file", "bytes", "kernels" and "with_records", the number of
// kernels that have a record. evidence verify --export writes "kind", "attest", "code" and
// "kernels", a list of "name", "config", "identity", "state" and "record".
//
// # JSON of remote
//
// add and list write one object per named machine: "name", "ssh", "dir", "env". list HOST and
// clean write one object per machine:
//
//	"host"      the name
//	"removed"   of clean: whether the folder is gone
//	"dir"       the folder of attest over there, "" if there is none
//	"bytes"     the size of its files
//	"binaries"  a list of SHA-256 sums
//	"jobs"      a list of "job", "state" (running, ended or lost), "started", "client", "command"
//
// # JSON of doctor
//
// One object:
//
//	"emulator"   the targets that run without a GPU
//	"gpus"       a list of "index", "name", "target", "sms", "memory", "l2", "uuid", "cuda",
//	             "driver", "max_sm_mhz", "watts_limit", "state_note" and "state"
//	    "state"      null without NVML, else "time", "sm_mhz", "memory_mhz", "watts", "joules",
//	                 "celsius", "performance", "throttle", "processes"
//	"gpu_note"   why there is no GPU
//	"tools"      a list of "name", "path" ("" if missing), "version", "note"
//	"python"     "path", "version", "note", and "modules", a list of "name", "version"
//	"lacks"      a list of what is missing: "what", "cost"
//
// # JSON of evidence
//
// list writes one object per record:
//
//	"hash", "seq", "time", "kernel", "ptx", "format", "target", "device"
//	"shapes"                      the shapes with errors or times
//	"outcome", "why", "verdict"   the newest verdict; "verdict" is its hash
//
// show writes one object:
//
//	"hash"       the hash of the object
//	"kind"       "record" or "verdict"
//	"seq"        the number of the object in the log
//	"object"     record.Record or record.Verdict, as in the file
//	"verdicts", "notes"
//	             the hashes of the verdicts and notes on a record
//
// show --kernel writes one object: "kernel" (the name), and the files "ptx" and "abi". show
// --split writes one object: "record" (the hash) and "files", a list.
//
// verify writes one object:
//
//	"entries", "records", "verdicts", "remarks", "texts"
//	                      the numbers of intact objects; remarks are notes, and texts are the
//	                      PTX of kernels
//	"head"                the hash of the newest entry
//	"signed"              entries that a key of --signer has signed
//	"problems", "notes"   lists of "path", "what"
//
// diff writes one object:
//
//	"a", "b", "same_ptx", "same_kernel", "parity"
//	"kernel", "build", "outcome"      lists of "what", "a", "b" for texts that differ
//	"resources", "errors", "times"    lists of "what", "a", "b", "ratio"; the ratio is null if
//	                                  one record lacks the number
//
// export writes one object: "records", "verdicts", "remarks", "head" (the hash of the newest
// entry) and "bytes".
//
// import writes one object per folder or file: "from", "records", "verdicts", "remarks",
// "known".
//
// note writes one object: the hashes "note" and "record". With --file it writes one object per
// note and record: "kernel", "record", "note", "result" ("added", "present", "does not fit" or
// "no record") and "why" the note does not fit.
//
// # JSON of report
//
// One object:
//
//	"kernels"      a list of "kernel", "config", "outcome", "why", "record", "ptx", "timed" (the
//	               record with the times)
//	"shapes"       a list of "device", "shape", "best" (the fastest kernel that was not
//	               rejected), "p50" in µs, "tflops", "record"
//	"targets"      a list of "name", "metric", "what", "chip", "unit", "target" and "current"
//	               (texts), "value" and "gap" (numbers or null), "by", "status", "record"
//	"milestones"   a list of "name", "met", "of", "by", "status", "left" (the targets that are
//	               not met)
//	"ladder"       a list of "device", "shape", "first" (the stage that speedups refer to) and
//	    "steps"        a list of "kernel", "format", "us", "over_first", "predecessor",
//	                   "over_predecessor", "same_run", "outcome", "record"
//	"check"        as in evidence verify
//	"written"      the files that were written
//
// report --status writes one object with "targets", "milestones" and "ladder" as above, and:
//
//	"time"             the time of the newest record
//	"head"             the hash of the newest entry
//	"done", "failed"   lists of "kernel", "format", "chip", "outcome", "why", "record", "notes"
//	                   (record.Note), "other_chips"
//	"next"             a list of "what", "kernel", "chip", "expected" ("conservative",
//	                   "realistic", "optimistic"; or null), "from"
package main
