package export

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
)

//go:embed runtime/attention.h
var headerC string

// header writes the bundle as a C header. Its expressions become C, its PTX string literals.
func (b *Bundle) header() ([]byte, error) {
	packed, err := b.pack()
	if err != nil {
		return nil, err
	}
	var kernels, tables strings.Builder
	for i := range b.Kernels {
		c := &cKernel{Kernel: &b.Kernels[i].Kernel, index: i, out: &kernels}
		if err := c.write(); err != nil {
			return nil, fmt.Errorf("kernel %s: %w", b.Kernels[i].Name, err)
		}
	}
	fmt.Fprintf(&tables, "static const attest_kernel attest_kernels[%d] = {\n", len(b.Kernels))
	for i := range b.Kernels {
		k := &b.Kernels[i]
		fmt.Fprintf(&tables, "\t{%s, %s, %s, %s, %s, %s, attest_ptx_%d, attest_refuses_%d, attest_launch_%d},\n", strconv.Quote(k.Name),
			orZero(k.Fixed["D"]), cBool(k.Fixed["mask"] == "causal"), strconv.Quote(k.Fixed["output"]),
			cBool(slices.Contains(k.Supports, problem.GroupedHeads)), cBool(slices.Contains(k.Supports, problem.CrossLengths)), i, i, i)
	}
	tables.WriteString("};\n\n")
	if err := b.cChoices(&tables); err != nil {
		return nil, err
	}
	text := strings.NewReplacer(
		"@COMMENT@\n", b.comment(" * "), "@KERNELS@\n", kernels.String(), "@TABLES@\n", tables.String(),
		"@COUNT@", strconv.Itoa(len(b.Kernels)), "@CHOICES@", strconv.Itoa(len(b.Choices)),
		"@COUNTED@", strconv.Itoa(mostCounted),
		"@BUNDLE@", beginMark+packed+endMark,
	).Replace(headerC)
	return []byte(text), nil
}

// cChoices writes the choices: a table, and the functions for their costs. Choices with equal rules
// share a function.
func (b *Bundle) cChoices(out *strings.Builder) error {
	functions, families := map[string]int{}, map[string]int{}
	var table strings.Builder
	for _, c := range b.Choices {
		body, err := c.cost()
		if err != nil {
			return err
		}
		n, ok := functions[body]
		if !ok {
			n = len(functions)
			functions[body] = n
			fmt.Fprintf(out, "static int64_t attest_cost_%d(const attest_problem *p, int64_t SMs)\n{\n%s}\n\n", n, body)
		}
		if _, ok := families[c.Family]; !ok {
			families[c.Family] = len(families)
		}
		fmt.Fprintf(&table, "\t{%d, %d, attest_cost_%d},\n", c.Kernel, families[c.Family], n)
	}
	fmt.Fprintf(out, "static const attest_choice attest_choices[%d] = {\n%s};\n", max(1, len(b.Choices)), table.String())
	return nil
}

// mostCounted is the number of blocks for which the header has memory when it follows their items.
const mostCounted = 1 << 12

// cost returns the body of the function that returns the cost of a choice, or -1 if its condition does
// not hold.
func (c *Choice) cost() (string, error) {
	var out strings.Builder
	w := &cKernel{Kernel: &kernel.Kernel{Let: c.Let}, out: &out}
	w.say("\tATTEST_NAMES(p)\n\tif (!(%s))\n\t\treturn -1;", w.integer(c.When))
	w.lets()
	if t := c.Tiles; t != nil {
		if t.Counted > mostCounted {
			w.fail("a choice follows the items of %d blocks, and the header follows %d at most", t.Counted, mostCounted)
		}
		w.say("\tconst attest_tiles how = {%d, %d, %d, %d, %s, %s, %d};", t.Rows, t.Keys, t.Split, t.PerSM, cBool(t.Persistent), cBool(t.Causal), t.Counted)
		w.say("\tconst int64_t busy = attest_busy(p, SMs, &how, rounds, item, tile);")
	}
	cost := "0"
	if !c.Cost.IsZero() {
		cost = w.integer(c.Cost)
	}
	w.say("\treturn %s;", cost)
	return out.String(), w.err
}

func cBool(on bool) string {
	if on {
		return "1"
	}
	return "0"
}

func orZero(n string) string {
	if n == "" {
		return "0"
	}
	return n
}

// cKernel writes one kernel as C.
type cKernel struct {
	*kernel.Kernel
	index int
	out   *strings.Builder
	err   error // the first expression that C cannot have
}

func (c *cKernel) say(format string, args ...any) { fmt.Fprintf(c.out, format+"\n", args...) }

func (c *cKernel) write() error {
	c.say("static const char attest_ptx_%d[] =", c.index)
	for line := range strings.Lines(c.PTX) {
		c.say("\t%s", cString(line))
	}
	c.say("\t;\n")
	c.say("static const char *attest_refuses_%d(const attest_problem *p, int64_t SMs)\n{\n\tATTEST_NAMES(p)", c.index)
	c.lets()
	for _, r := range c.Require {
		why := r.Why
		if why == "" {
			why = "the kernel needs " + r.Holds.String()
		}
		c.say("\tif (!(%s))\n\t\treturn %s;", c.integer(r.Holds), cString(why))
	}
	c.say("\treturn NULL;\n}\n")
	c.launches()
	return c.err
}

// lets writes the named values of the kernel.
func (c *cKernel) lets() {
	for _, l := range c.Let {
		c.say("\tconst int64_t %s = %s;\n\t(void)%s;", l.Name, c.integer(l.Value), l.Name)
	}
}

// launches writes the function that queues the launches. With a stream of ATTEST_MEASURE it only
// adds up the workspace.
func (c *cKernel) launches() {
	c.say("static int attest_launch_%d(attest_attention *a, const attest_problem *p, const attest_tensors *t, CUstream stream, size_t *workspace)\n{", c.index)
	c.say("\tconst int64_t SMs = a->sms;\n\tATTEST_NAMES(p)")
	c.lets()
	for i := range c.Operands {
		c.operand(&c.Operands[i])
	}
	c.say("\tif (workspace)\n\t\treturn 0;")
	for i := range c.Launches {
		c.launch(&c.Launches[i])
	}
	c.say("\treturn 0;\n}\n")
}

// operand declares the address of an operand and its strides.
func (c *cKernel) operand(o *kernel.Operand) {
	size, ok := kernel.TypeBytes(o.Type)
	if !ok {
		c.fail("type %q of operand %s is not known", o.Type, o.Name)
	}
	var factors []string
	for _, d := range o.Dims {
		factors = append(factors, "("+c.integer(d)+")")
	}
	if o.Role == kernel.Workspace {
		c.say("\tCUdeviceptr %s = ATTEST_TAKE(%s * %d);", o.Name, strings.Join(factors, " * "), size)
		if o.Init != kernel.AsIs {
			c.say("\tATTEST_ZERO(%s, %s * %d)", o.Name, strings.Join(factors, " * "), size)
		}
	} else {
		c.say("\tconst CUdeviceptr %s = t ? t->%s : 0;", o.Name, o.Name)
	}
	c.say("\t(void)%s;", o.Name)
	for i := range o.Dims {
		stride := "1"
		if len(o.Strides) == len(o.Dims) {
			stride = c.integer(o.Strides[i])
		} else if i+1 < len(factors) {
			stride = strings.Join(factors[i+1:], " * ")
		}
		c.say("\tconst int64_t %s_stride%d = %s;\n\t(void)%s_stride%d;", o.Name, i, stride, o.Name, i)
	}
}

// launch writes one launch.
func (c *cKernel) launch(l *kernel.Launch) {
	when := "1"
	if !l.When.IsZero() {
		when = c.integer(l.When)
	}
	c.say("\tif (%s) {", when)
	shared := "0"
	if !l.Shared.IsZero() {
		shared = c.integer(l.Shared)
	}
	var args []string
	for i := range l.Args {
		args = append(args, "&"+c.arg(&l.Args[i], i))
	}
	c.say("\t\tvoid *args[] = {%s};", strings.Join(args, ", "))
	c.say("\t\tATTEST_FUNCTION(%d, %s, %s)", c.index, strconv.Quote(l.Entry), shared)
	resident := "1"
	if uses(l.Grid, "BlocksPerSM") {
		resident = fmt.Sprintf("attest_resident(function, %s, shared)", c.product(l.Block))
	}
	c.say("\t\tconst int64_t BlocksPerSM = %s;\n\t\t(void)BlocksPerSM;", resident)
	clustered := len(l.Cluster) > 0 && !strings.Contains(c.PTX, ".reqnctapercluster")
	cluster := []string{"1", "1", "1"}
	if clustered {
		cluster = c.three(l.Cluster)
	}
	c.say("\t\tATTEST_LAUNCH((%s), (%s), (%s), %s, %s)", strings.Join(c.three(l.Grid), "), ("), strings.Join(c.three(l.Block), "), ("),
		strings.Join(cluster, "), ("), cBool(l.Cooperative), cBool(l.Dependent))
	c.say("\t}")
}

// cTypes are the types of arguments.
var cTypes = map[string]string{
	"u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t", "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t",
	"f32": "float", "f64": "double",
}

// arg declares the variable of an argument and returns its name.
func (c *cKernel) arg(a *kernel.Arg, i int) string {
	name := fmt.Sprintf("arg%d", i)
	switch {
	case a.Pointer != "":
		c.say("\t\tCUdeviceptr %s = %s;", name, a.Pointer)
	case a.Map != nil:
		c.tensorMap(a.Map, name)
	case a.Type[0] == 'f' && cTypes[a.Type] != "":
		c.say("\t\t%s %s = (%s)(%s);", cTypes[a.Type], name, cTypes[a.Type], c.floating(a.Value))
	case cTypes[a.Type] != "":
		c.say("\t\t%s %s = (%s)(%s);", cTypes[a.Type], name, cTypes[a.Type], c.integer(a.Value))
	default:
		c.fail("an argument has type %q, which C has not", a.Type)
	}
	return name
}

// mapTypes and swizzles are the names of the driver.
var (
	mapTypes = map[string]string{
		"u8": "UINT8", "u16": "UINT16", "u32": "UINT32", "i32": "INT32", "u64": "UINT64", "i64": "INT64", "f16": "FLOAT16",
		"f32": "FLOAT32", "f64": "FLOAT64", "bf16": "BFLOAT16", "tf32": "TFLOAT32",
	}
	swizzles = map[string]string{"": "NONE", "none": "NONE", "32B": "32B", "64B": "64B", "128B": "128B"}
)

func (c *cKernel) tensorMap(m *kernel.TensorMap, name string) {
	size, _ := kernel.TypeBytes(m.Type)
	var dims, strides, box, steps []string
	step := strconv.Itoa(size)
	for i := range m.Dims {
		dims, box, steps = append(dims, c.integer(m.Dims[i])), append(box, c.integer(m.Box[i])), append(steps, "1")
		if i == len(m.Dims)-1 {
			break
		}
		step += " * (" + dims[i] + ")"
		if len(m.Strides) > 0 {
			step = c.integer(m.Strides[i])
		}
		strides = append(strides, step)
	}
	strides = append(strides, "0") // never empty
	fill := "NONE"
	if m.Fill == "nan" {
		fill = "NAN_REQUEST_ZERO_FMA"
	}
	c.say("\t\tCUtensorMap %s;\n\t\t{\n\t\t\tconst cuuint64_t dims[] = {%s}, strides[] = {%s};", name, cast("cuuint64_t", dims), cast("cuuint64_t", strides))
	c.say("\t\t\tconst cuuint32_t box[] = {%s}, steps[] = {%s};", cast("cuuint32_t", box), strings.Join(steps, ", "))
	c.say("\t\t\tATTEST_CALL(cuTensorMapEncodeTiled(&%s, CU_TENSOR_MAP_DATA_TYPE_%s, %d, (void *)(uintptr_t)%s, dims, strides, box, steps,", name, mapTypes[m.Type], len(dims), m.Operand)
	c.say("\t\t\t\tCU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_%s, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_%s))\n\t\t}", swizzles[m.Swizzle], fill)
}

func cast(to string, list []string) string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = "(" + to + ")(" + e + ")"
	}
	return strings.Join(out, ", ")
}

func uses(list []expr.Expr, name string) bool {
	return slices.ContainsFunc(list, func(e expr.Expr) bool { return slices.Contains(e.Names(), name) })
}

// three returns one to three extents as C; the others are 1.
func (c *cKernel) three(list []expr.Expr) []string {
	out := []string{"1", "1", "1"}
	for i := range min(len(list), 3) {
		out[i] = c.integer(list[i])
	}
	return out
}

func (c *cKernel) product(list []expr.Expr) string {
	return "(" + strings.Join(c.three(list), ") * (") + ")"
}

func (c *cKernel) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// word matches names and numbers of an expression.
var word = regexp.MustCompile(`0x[0-9a-fA-F]+|[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?|[A-Za-z_][A-Za-z0-9_.]*`)

var functions = map[string]string{"min": "attest_min", "max": "attest_max", "cdiv": "attest_cdiv"}

// integer returns an expression over integers as C. The grammars agree, except for functions and
// names with dots.
func (c *cKernel) integer(e expr.Expr) string {
	text := e.String()
	for _, f := range []string{"min(", "max("} {
		if strings.Count(text, f) > 0 && strings.Count(text, ",") > strings.Count(text, "(") {
			c.fail("the expression %s has a function of more than two values, which the C header cannot have", text)
		}
	}
	return word.ReplaceAllStringFunc(text, func(w string) string {
		if f := functions[w]; f != "" {
			return f
		}
		if strings.ContainsAny(w, ".eE") && w[0] >= '0' && w[0] <= '9' && !strings.HasPrefix(w, "0x") {
			c.fail("the expression %s of integers has a float", text)
		}
		return strings.ReplaceAll(w, ".", "_")
	})
}

// floating returns an expression as C in which everything is a double.
func (c *cKernel) floating(e expr.Expr) string {
	text := e.String()
	if strings.ContainsAny(text, "%?") || strings.Contains(text, "cdiv") {
		c.fail("the expression %s of floats cannot be written in C", text)
	}
	return word.ReplaceAllStringFunc(text, func(w string) string {
		switch {
		case functions[w] != "":
			return "f" + w // fmin, fmax
		case w[0] >= '0' && w[0] <= '9' && strings.ContainsAny(w, ".eE"):
			return w
		case w[0] >= '0' && w[0] <= '9':
			return w + ".0"
		}
		return "(double)" + strings.ReplaceAll(w, ".", "_")
	})
}

// cString returns text as a string literal of C.
func cString(text string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, b := range []byte(text) {
		switch {
		case b == '\n':
			out.WriteString(`\n`)
		case b == '"' || b == '\\':
			out.WriteString(`\` + string(rune(b)))
		case b < ' ' || b >= 0x7f:
			fmt.Fprintf(&out, `\%03o`, b)
		default:
			out.WriteByte(b)
		}
	}
	out.WriteByte('"')
	return out.String()
}
