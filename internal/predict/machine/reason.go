package machine

// Reason says what a sub-core or a warp spent time on.
type Reason uint8

// The reasons.
const (
	Issue      Reason = iota // an operation was issued
	Dependence               // the result of arithmetic was not ready
	Special                  // special functions: the unit was busy or a result was not ready
	Products                 // tensor cores: busy, or a product was not ready
	SharedWait               // shared memory, shuffles
	MemoryWait               // L1, L2 and DRAM, and copies
	Barrier                  // other warps
	UnitBusy                 // another unit was busy
	Fetch                    // instructions that were not in the cache
	Start                    // the start of a block
	Idle                     // no warp was left
	reasons
)

// ReasonCount is the number of reasons.
const ReasonCount = int(reasons)

var reasonNames = [reasons]string{
	"issue", "dependence", "special functions", "tensor cores", "shared memory", "memory", "barrier", "unit busy", "instruction fetch", "block start", "idle",
}

func (r Reason) String() string { return reasonNames[r] }

// Reasons lists all reasons.
func Reasons() []Reason {
	list := make([]Reason, reasons)
	for i := range list {
		list[i] = Reason(i)
	}
	return list
}

// MarshalText returns the name of the reason.
func (r Reason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// waitFor returns the reason of a warp that waits for a result of a unit.
func waitFor(u Unit) Reason {
	switch u {
	case Exp, Convert:
		return Special
	case Tensor, WGMMA:
		return Products
	case Shuffle, Memory:
		return SharedWait
	}
	return Dependence
}
