package finding

// Rule explains a kind of findings.
type Rule struct {
	Kind  Kind
	Short string // a few words, for help texts
	Full  string // what is wrong, and what follows from it
	Help  string // what usually repairs it
}

// The kinds that need no checker: a launch ends with them, or its results show them.
const (
	Compile  Kind = "compile" // the compiler of a device refused the text
	Fault    Kind = "fault"
	Deadlock Kind = "deadlock"
	Timeout  Kind = "timeout"
	Schedule Kind = "schedule"
	Mismatch Kind = "mismatch"
)

// The kinds that need the call of a kernel: which memory is input, and which is output.
const (
	OutputRead      Kind = "output-read"
	ModuleState     Kind = "module-state"
	InputWrite      Kind = "input-write"
	LaunchDependent Kind = "launch-dependent"
	NaNSpread       Kind = "nan-spread"
)

// Rules explain the kinds that a launch can show without a checker. Deadlock is
// missing here, because the checkers report deadlocks too and explain the kind.
var Rules = []Rule{
	{Fault, "the launch was stopped by an instruction that cannot be executed",
		"An access is out of bounds or not aligned, or an instruction is used against its rules. On a GPU the launch fails or its result is undefined.",
		"Look at the operands at this line. Run with --check all to see what led to the fault."},
	{Timeout, "the launch did not end in the time it was given",
		"The kernel ran longer than --timeout, or a warp executed more instructions than --max-instructions.",
		"Look for a loop that never ends, or raise the limit."},
	{Schedule, "the result depends on the order in which warps run",
		"Two orders of the same warps gave different bits. There is a race, or the kernel uses floating-point atomics, whose sums depend on the order.",
		"Run with --check all, which names the two accesses of a race."},
	{Mismatch, "a buffer does not hold what was expected",
		"After the launch a buffer differed from its \"expect\" by more than the launch file allows.",
		"Run with --check all: a race or a read of unwritten memory is a common cause."},
	{OutputRead, "an output is read",
		"The kernel reads memory that its call declares as an output. It can find the answer of an earlier launch there and skip its work.",
		"Read only inputs and workspaces. If the old content is part of the computation, declare the operand as \"inout\"."},
	{ModuleState, "a variable of the module is read that the kernel also writes",
		"A variable of the module keeps its content between launches, so a launch can use the results of an earlier one.",
		"Use a workspace, or make the variable .visible, so that attest can restore it between launches, and name it in \"declares\" of the call."},
	{InputWrite, "an input is written",
		"The kernel writes memory that its call declares as an input. Other kernels that read it see the change.",
		"Write only outputs and workspaces. If the change is part of the computation, declare the operand as \"inout\"."},
	{LaunchDependent, "a special register is read that differs between launches",
		"The registers %smid, %nsmid, %gridid, %clock, %globaltimer, %pm, %current_graph_exec and %envreg differ between launches with the same arguments, so the result may differ too.",
		"Do not let the result depend on it, and name the register in \"declares\" of the call if it is needed."},
	{NaNSpread, "NaN in the inputs of one head reaches the output of another",
		"The kernel reads rows beyond the end of a head and gives them the weight 0, but 0·NaN is NaN. One bad head then spoils others, and so does memory that was never written.",
		"Load zeros for rows beyond the end, or select zero after the product instead of multiplying by zero."},
}
