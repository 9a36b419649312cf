package scalar

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The probes compare the package with hardware: one kernel per instruction, all on the same
// records of operands.
//
//	ATTEST_PROBE_WRITE=dir go test -run TestProbeWrite   writes dir/probes.ptx, probes.in, edges.in
//	ATTEST_PROBE=dir       go test -run TestProbeCompare compares dir/out/ENTRY.bin and dir/out.edges/ENTRY.bin
//
// Every entry has the parameters (.param .u64 in, .param .u64 out, .param .u32 n). Thread i
// reads record i of in, which has four words of 8 bytes, and writes 8 bytes to out[i].

// record holds the operands of one thread. A narrow operand is in the low bits of its word.
type record [4]uint64

func (x record) b(i int) uint8  { return uint8(x[i]) }
func (x record) h(i int) uint16 { return uint16(x[i]) }
func (x record) r(i int) uint32 { return uint32(x[i]) }

// probe is one or a few instructions with the function of this package that computes them.
type probe struct {
	name string
	sig  string // classes of the operands, the result first: h, r, d (16, 32, 64 bits), p (predicate)
	text string
	eval func(x record) uint64
}

// op returns the probe of one instruction whose operands are in their usual order. The result
// is compared as a zero-extended 64-bit word.
func op(inst, sig string, eval func(x record) uint64) probe {
	regs := []string{"{d}", "{a}", "{b}", "{c}", "{e}"}[:len(sig)]
	return body(strings.NewReplacer(".", "_", "::", "_").Replace(inst), sig, inst+" "+strings.Join(regs, ", ")+";", eval)
}

// body returns a probe with its own text. {d} is the result, and {a} {b} {c} {e} are the
// operands, in registers of the classes in sig.
func body(name, sig, text string, eval func(x record) uint64) probe {
	var args []string
	for i, place := range []string{"{d}", "{a}", "{b}", "{c}", "{e}"} {
		if i < len(sig) {
			args = append(args, place, fmt.Sprintf("%%%c%d", sig[i], i))
		}
	}
	return probe{name: name, sig: sig, text: strings.NewReplacer(args...).Replace(text), eval: eval}
}

func probes() []probe {
	var all []probe
	all = append(all, floatProbes()...)
	all = append(all, halfProbes()...)
	all = append(all, extremeProbes()...)
	all = append(all, compareProbes()...)
	all = append(all, narrowProbes()...)
	all = append(all, fp8Probes()...)
	all = append(all, toIntProbes()...)
	all = append(all, fromIntProbes()...)
	all = append(all, divideProbes()...)
	all = append(all, bitProbes()...)
	return append(all, carryProbes()...)
}

// kernel returns the probe as a PTX entry.
func (p *probe) kernel() string {
	var b strings.Builder
	fmt.Fprintf(&b, `
.visible .entry %s(.param .u64 in, .param .u64 out, .param .u32 n)
{
	.reg .pred %%p<6>;
	.reg .b16 %%h<6>;
	.reg .b32 %%r<6>, %%i<6>;
	.reg .b64 %%d<6>, %%w<6>, %%in, %%out;
	mov.u32 %%i0, %%ctaid.x;
	mov.u32 %%i1, %%ntid.x;
	mov.u32 %%i2, %%tid.x;
	mad.lo.u32 %%i0, %%i0, %%i1, %%i2;
	ld.param.u32 %%i3, [n];
	setp.ge.u32 %%p5, %%i0, %%i3;
	@%%p5 ret;
	ld.param.u64 %%in, [in];
	ld.param.u64 %%out, [out];
	mad.wide.u32 %%in, %%i0, 32, %%in;
	mad.wide.u32 %%out, %%i0, 8, %%out;
`, p.name)
	for i := 1; i < len(p.sig); i++ {
		fmt.Fprintf(&b, "\tld.global.b64 %%w%d, [%%in+%d];\n", i, 8*(i-1))
		switch p.sig[i] {
		case 'h':
			fmt.Fprintf(&b, "\tcvt.u16.u64 %%h%d, %%w%d;\n", i, i)
		case 'r':
			fmt.Fprintf(&b, "\tcvt.u32.u64 %%r%d, %%w%d;\n", i, i)
		case 'd':
			fmt.Fprintf(&b, "\tmov.b64 %%d%d, %%w%d;\n", i, i)
		}
	}
	fmt.Fprintf(&b, "\t%s\n", p.text)
	switch p.sig[0] {
	case 'h':
		b.WriteString("\tcvt.u64.u16 %w0, %h0;\n")
	case 'r':
		b.WriteString("\tcvt.u64.u32 %w0, %r0;\n")
	case 'd':
		b.WriteString("\tmov.b64 %w0, %d0;\n")
	case 'p':
		b.WriteString("\tselp.u64 %w0, 1, 0, %p0;\n")
	}
	b.WriteString("\tst.global.b64 [%out], %w0;\n\tret;\n}\n")
	return b.String()
}

func probeModule() []byte {
	var b bytes.Buffer
	b.WriteString(".version 8.4\n.target sm_90\n.address_size 64\n")
	for _, p := range probes() {
		b.WriteString(p.kernel())
	}
	return b.Bytes()
}

// inputs is a set of records on which all probes run. The folder out holds one file with
// results per entry.
type inputs struct {
	name, out string
	records   []record
}

func probeInputs() []inputs {
	return []inputs{{"probes.in", "out", probeRecords()}, {"edges.in", "out.edges", edgeRecords()}}
}

func TestProbeWrite(t *testing.T) {
	dir := os.Getenv("ATTEST_PROBE_WRITE")
	if dir == "" {
		t.Skip("ATTEST_PROBE_WRITE, the directory to write probes to, is not set")
	}
	files := map[string][]byte{"probes.ptx": probeModule()}
	for _, p := range probes() {
		files["entries.txt"] = fmt.Appendln(files["entries.txt"], p.name)
	}
	for _, in := range probeInputs() {
		var b bytes.Buffer
		if err := binary.Write(&b, binary.LittleEndian, in.records); err != nil {
			t.Fatal(err)
		}
		files[in.name] = b.Bytes()
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d entries, %d records", len(probes()), recordCount)
}

// TestProbeCompare reports results that differ from the hardware. If all agree, -update
// writes the digests of the hardware's results to testdata.
func TestProbeCompare(t *testing.T) {
	dir := os.Getenv("ATTEST_PROBE")
	if dir == "" {
		t.Skip("ATTEST_PROBE, the directory with the results of probes, is not set")
	}
	var digests bytes.Buffer
	for _, in := range probeInputs() {
		if _, err := os.Stat(filepath.Join(dir, in.out)); err != nil {
			t.Logf("%s is not compared: %v", in.name, err)
			continue
		}
		for _, p := range probes() {
			t.Run(in.out+"/"+p.name, func(t *testing.T) {
				got, err := os.ReadFile(filepath.Join(dir, in.out, p.name+".bin"))
				if err != nil {
					t.Fatal(err)
				}
				if len(got) != 8*len(in.records) {
					t.Fatalf("%d bytes, want %d", len(got), 8*len(in.records))
				}
				p.compare(t, in.records, got)
				fmt.Fprintln(&digests, digest(in.out, p.name, got))
			})
		}
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(digestFile, digests.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

var update = flag.Bool("update", false, "write the digests of the hardware's answers to testdata")

// digestFile holds the digests of the results of an H200, one line per set of inputs and
// entry.
const digestFile = "testdata/h200.txt"

func digest(set, entry string, results []byte) string {
	sum := sha256.Sum256(results)
	return fmt.Sprintf("%s %s %x", set, entry, sum[:8])
}

// TestHardwareDigests compares the results with the stored digests of the hardware's results.
func TestHardwareDigests(t *testing.T) {
	text, err := os.ReadFile(digestFile)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		known[strings.TrimSpace(line)] = true
	}
	for _, in := range probeInputs() {
		t.Run(in.out, func(t *testing.T) {
			if !strings.Contains(string(text), in.out+" ") {
				t.Skipf("%s has no digests for %s", digestFile, in.name)
			}
			results := make([]byte, 8*len(in.records))
			for _, p := range probes() {
				for i, x := range in.records {
					binary.LittleEndian.PutUint64(results[8*i:], p.eval(x))
				}
				if !known[digest(in.out, p.name, results)] {
					t.Errorf("%s on %s: the results differ from the hardware", p.name, in.name)
				}
			}
		})
	}
}

// compare reports how many records differ, and the first few.
func (p *probe) compare(t *testing.T, records []record, hardware []byte) {
	const shown = 6
	wrong := 0
	for i, x := range records {
		hw, we := binary.LittleEndian.Uint64(hardware[8*i:]), p.eval(x)
		if hw == we {
			continue
		}
		if wrong++; wrong <= shown {
			t.Errorf("%s: hardware %#x, package %#x", p.show(x), hw, we)
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d differ", wrong, len(records))
	}
}

// show formats the operands of the instruction.
func (p *probe) show(x record) string {
	var args []string
	for i, class := range p.sig[1:] {
		switch class {
		case 'h':
			args = append(args, fmt.Sprintf("%#04x", x.h(i)))
		case 'r':
			args = append(args, fmt.Sprintf("%#08x", x.r(i)))
		default:
			args = append(args, fmt.Sprintf("%#x", x[i]))
		}
	}
	return p.name + "(" + strings.Join(args, ", ") + ")"
}

// TestProbes evaluates every probe on every record. No operand may cause a panic, and each
// result must fit its register.
func TestProbes(t *testing.T) {
	seen := map[string]bool{}
	records := probeRecords()
	for _, p := range probes() {
		if seen[p.name] {
			t.Errorf("%s occurs twice", p.name)
		}
		seen[p.name] = true
		width := map[byte]int{'p': 1, 'h': 16, 'r': 32, 'd': 64}[p.sig[0]]
		distinct := map[uint64]bool{}
		for _, x := range records {
			got := p.eval(x)
			distinct[got] = true
			if width < 64 && got>>width != 0 {
				t.Fatalf("%s = %#x is wider than %d bits", p.show(x), got, width)
			}
		}
		if len(distinct) < 2 {
			t.Errorf("%s has the same result for all records, so it tests nothing", p.name)
		}
	}
}

func TestProbesAssemble(t *testing.T) {
	ptxas, err := exec.LookPath("ptxas")
	if err != nil {
		t.Skip("no ptxas on PATH to assemble the probes")
	}
	file := filepath.Join(t.TempDir(), "probes.ptx")
	if err := os.WriteFile(file, probeModule(), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(ptxas, "-arch=sm_90", "-O1", "-o", os.DevNull, file).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
