package kernel

import (
	"fmt"
	"math"
	"strconv"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Plan is a kernel for one problem: the sizes of its memory and its launches, without
// addresses.
type Plan struct {
	Memory []Memory
	Steps  []Step
}

// Memory is an operand with its size.
type Memory struct {
	Name  string
	Role  Role
	Init  Init
	Bytes int64
	// Strides has gaps between elements if it is not nil: the operand is not contiguous.
	Strides *Strides
}

// Strides says where the elements of an operand are.
type Strides struct {
	Size     int // the size of an element in bytes
	Dims, By []int64
}

// Spread returns the memory of an operand from its elements without gaps. Gaps are filled with
// a byte.
func (s *Strides) Spread(data []byte, bytes int64, gap byte) []byte {
	out := make([]byte, bytes)
	for i := range out {
		out[i] = gap
	}
	s.each(func(element, at int64) {
		copy(out[at:at+int64(s.Size)], data[element:])
	})
	return out
}

// Compact returns the elements of an operand without gaps.
func (s *Strides) Compact(data []byte) []byte {
	n := int64(s.Size)
	for _, d := range s.Dims {
		n *= d
	}
	out := make([]byte, n)
	s.each(func(element, at int64) {
		copy(out[element:element+int64(s.Size)], data[at:])
	})
	return out
}

// each calls a function with the offsets of each element in bytes: without gaps, and in memory.
func (s *Strides) each(do func(element, at int64)) {
	index := make([]int64, len(s.Dims))
	for element := int64(0); ; element += int64(s.Size) {
		at := int64(0)
		for i, n := range index {
			if s.Dims[i] == 0 {
				return
			}
			at += n * s.By[i]
		}
		do(element, at*int64(s.Size))
		i := len(index) - 1
		for ; i >= 0; i-- {
			if index[i]++; index[i] < s.Dims[i] {
				break
			}
			index[i] = 0
		}
		if i < 0 {
			return
		}
	}
}

// Step is a launch whose expressions have been evaluated.
type Step struct {
	Entry                  string
	Grid, Block, Cluster   [3]int // a Cluster of zeros means no cluster
	Shared                 int    // bytes
	Cooperative, Dependent bool
	Args                   []Bound
}

// Bound is an argument of a launch, complete except for the address of an operand.
type Bound struct {
	Memory int    // index in Plan.Memory, or -1
	Map    *Map   // the argument is a tensor map of that memory
	Value  []byte // the bytes of the argument if Memory is -1
}

// Map is a tensor map without its address, the innermost dimension first.
type Map struct {
	Type    ptx.Type
	Dims    []uint64
	Strides []uint64 // bytes, of all dimensions but the innermost
	Box     []uint32
	Swizzle int // bytes: 0, 32, 64 or 128
	NaNFill bool
}

// Options are optional inputs of Bind.
type Options struct {
	// Resident returns how many blocks of an entry fit on one SM. Nil means one.
	Resident func(s Step) int
	// Values are further names: scales that are passed by value.
	Values expr.Env
}

// Bind evaluates the kernel for a problem on a chip.
func (k *Kernel) Bind(p Problem, c Chip, o Options) (*Plan, error) {
	env, err := k.env(p, c, o.Values)
	if err != nil {
		return nil, err
	}
	plan := &Plan{}
	index := map[string]int{}
	for i := range k.Operands {
		m, err := k.Operands[i].bind(env)
		if err != nil {
			return nil, fmt.Errorf("operand %s: %w", k.Operands[i].Name, err)
		}
		k.Operands[i].nameStrides(env)
		index[m.Name] = len(plan.Memory)
		plan.Memory = append(plan.Memory, m)
	}
	for i := range k.Launches {
		l := &k.Launches[i]
		if !l.When.IsZero() {
			run, err := l.When.Bool(env)
			if err != nil {
				return nil, fmt.Errorf("launch of %s: %w", l.Entry, err)
			}
			if !run {
				continue
			}
		}
		s, err := l.bind(env, index, o.Resident)
		if err != nil {
			return nil, fmt.Errorf("launch of %s: %w", l.Entry, err)
		}
		plan.Steps = append(plan.Steps, s)
	}
	return plan, nil
}

// env returns the values of all names that a kernel's expressions may use.
func (k *Kernel) env(p Problem, c Chip, more expr.Env) (expr.Env, error) {
	env := p.Names()
	env["SMs"] = expr.Int(int64(max(c.SMs, 1)))
	for name, v := range more {
		env[name] = v
	}
	for _, l := range k.Let {
		v, err := l.Value.Eval(env)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.Name, err)
		}
		env[l.Name] = v
	}
	return env, nil
}

// mostBytes is larger than any operand on a GPU.
const mostBytes = 1 << 42

// bind computes the bytes of an operand, up to the end of its last element.
func (o *Operand) bind(env expr.Env) (Memory, error) {
	m := Memory{Name: o.Name, Role: o.Role, Init: o.Init}
	size, ok := TypeBytes(o.Type)
	if !ok {
		return m, fmt.Errorf("type %q is not known", o.Type)
	}
	dims, err := ints(o.Dims, env, 0, mostBytes)
	if err != nil {
		return m, err
	}
	strides, err := ints(o.Strides, env, 0, mostBytes)
	if err != nil {
		return m, err
	}
	last := int64(1) // one past the index of the last element
	if len(strides) == 0 {
		for _, n := range dims {
			if n != 0 && last > mostBytes/n {
				return m, fmt.Errorf("%v elements are more than the memory of any GPU holds", dims)
			}
			last *= n
		}
	} else {
		for i, n := range dims {
			if n > 0 && strides[i] > mostBytes/n {
				return m, fmt.Errorf("%v elements at strides %v are more than the memory of any GPU holds", dims, strides)
			}
			last += max(n-1, 0) * strides[i]
		}
		m.Strides = &Strides{size, dims, strides}
	}
	m.Bytes = max(last*int64(size), 1)
	return m, nil
}

// nameStrides gives names to the strides of an operand in elements: "q.stride0" is that of the
// outermost extent.
func (o *Operand) nameStrides(env expr.Env) {
	dims, _ := ints(o.Dims, env, 0, mostBytes)
	strides, _ := ints(o.Strides, env, 0, mostBytes)
	step := int64(1)
	for i := len(dims) - 1; i >= 0; i-- {
		if len(strides) == len(dims) {
			step = strides[i]
		}
		env[o.Name+".stride"+strconv.Itoa(i)] = expr.Int(step)
		step *= dims[i]
	}
}

func (l *Launch) bind(env expr.Env, index map[string]int, resident func(Step) int) (Step, error) {
	s := Step{Entry: l.Entry, Cooperative: l.Cooperative, Dependent: l.Dependent}
	var err error
	if s.Block, err = extents("block", l.Block, env); err != nil {
		return s, err
	}
	if len(l.Cluster) > 0 {
		if s.Cluster, err = extents("cluster", l.Cluster, env); err != nil {
			return s, err
		}
		if s.Cluster == [3]int{1, 1, 1} {
			s.Cluster = [3]int{}
		}
	}
	if !l.Shared.IsZero() {
		n, err := l.Shared.Int(env)
		if err == nil && (n < 0 || n > 1<<30) {
			err = fmt.Errorf("%s is %d bytes", l.Shared, n)
		}
		if err != nil {
			return s, fmt.Errorf("shared memory: %w", err)
		}
		s.Shared = int(n)
	}
	if err := l.bindGrid(&s, env, resident); err != nil {
		return s, err
	}
	for i := range l.Args {
		a, err := l.Args[i].bind(env, index)
		if err != nil {
			return s, fmt.Errorf("argument %d: %w", i, err)
		}
		s.Args = append(s.Args, a)
	}
	return s, nil
}

// bindGrid evaluates the grid. Only the grid may use BlocksPerSM, because the number of
// blocks on an SM depends on the block and the shared memory of the launch.
func (l *Launch) bindGrid(s *Step, env expr.Env, resident func(Step) int) error {
	blocks := 1
	if resident != nil && uses(l.Grid, "BlocksPerSM") {
		blocks = max(resident(*s), 1)
	}
	env["BlocksPerSM"] = expr.Int(int64(blocks))
	defer delete(env, "BlocksPerSM")
	var err error
	s.Grid, err = extents("grid", l.Grid, env)
	return err
}

func uses(list []expr.Expr, name string) bool {
	for _, e := range list {
		for _, n := range e.Names() {
			if n == name {
				return true
			}
		}
	}
	return false
}

// extents evaluates one to three extents. The others are 1.
func extents(what string, list []expr.Expr, env expr.Env) (d [3]int, err error) {
	d = [3]int{1, 1, 1}
	n, err := ints(list, env, 1, math.MaxInt32)
	if err != nil {
		return d, fmt.Errorf("%s: %w", what, err)
	}
	for i := range min(len(n), len(d)) {
		d[i] = int(n[i])
	}
	return d, nil
}

func ints(list []expr.Expr, env expr.Env, least, most int64) ([]int64, error) {
	out := make([]int64, len(list))
	for i, e := range list {
		n, err := e.Int(env)
		if err != nil {
			return nil, err
		}
		if n < least || n > most {
			return nil, fmt.Errorf("%s is %d, but must be from %d to %d", e, n, least, most)
		}
		out[i] = n
	}
	return out, nil
}
