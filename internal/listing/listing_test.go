package listing

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/count"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

const text = `.version 7.0
.target sm_80
.address_size 64
.visible .entry k()
{
	.reg .b32 %r<2>;
	mov.u32 %r0, 1; mov.u32 %r1, 2;
	st.shared.u32 [%r0], %r1;
	ld.global.u32 %r1, [0];
	ret;
}
.visible .entry idle() { ret; }
`

func counts() *count.Counts {
	return &count.Counts{
		Kernel: "k", WarpInstructions: 12345, ThreadInstructions: 200000, ActiveLanes: 16.2,
		Families: []count.Mix{{Name: "memory", Warps: 8}}, Opcodes: []count.Mix{{Name: "mov.u32", Warps: 8}, {Name: "ret", Warps: 4}},
		Branches: count.Branches{Executed: 8, Divergent: 2},
		Shared:   count.SharedUse{Requests: 4, Wavefronts: 10, Conflicts: 6}, Global: count.GlobalUse{Requests: 4, Sectors: 64, BytesUsed: 1024},
		Bytes:    []count.Bytes{{Space: "shared", Direction: "write", By: "ld, st", Bytes: 512}},
		Barriers: []count.Barrier{{Line: 9, Instruction: "bar.sync", Arrivals: 8, Threads: 256, Vain: 3}},
		Tensor:   []count.Tensor{{A: "f16", B: "f16", D: "f32", Warps: 2, Operations: 8192}},
		Special:  []count.Mix{{Name: "ex2.approx.f32", Threads: 64}},
		Lines: []count.Line{
			{Line: 7, Column: 2, Function: "k", Executions: 4, Active: 128},
			{Line: 7, Column: 18, Function: "k", Executions: 4, Active: 128},
			{Line: 8, Column: 2, Function: "k", Instruction: "st.shared.u32", Executions: 4, Active: 64, Shared: count.SharedUse{Requests: 4, Wavefronts: 10, Conflicts: 6}},
			{Line: 9, Column: 2, Function: "k", Instruction: "ld.global.u32", Executions: 4, Active: 128, Global: count.GlobalUse{Requests: 4, Sectors: 64, BytesUsed: 1024}},
		},
	}
}

func TestWrite(t *testing.T) {
	m, err := parse.Parse("k.ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	race := finding.Finding{
		Kind: "shared-race", Severity: finding.Error, Message: "write races",
		Place: finding.Place{Pos: ptx.Pos{Line: 8, Col: 2}}, Other: &finding.Place{Pos: ptx.Pos{Line: 9, Col: 2}},
	}
	var b strings.Builder
	Write(&b, term.Style{}, m, text, []*count.Counts{counts(), counts()}, []finding.Finding{race})
	want := ` executions  lanes conflicts sectors line
                                        1 | .version 7.0
                                        2 | .target sm_80
                                        3 | .address_size 64
                                        4 | .visible .entry k()
                                        5 | {
                                        6 |     .reg .b32 %r<2>;
          8  100 %                      7 |     mov.u32 %r0, 1; mov.u32 %r1, 2;
          8   50 %       1.5            8 |     st.shared.u32 [%r0], %r1;
                                          |     ^ error: write races [shared-race]
          8  100 %              16.0    9 |     ld.global.u32 %r1, [0];
                                          |     ^ note: see line 8 [shared-race]
          0                            10 |     ret;
                                       11 | }
                                       12 | .visible .entry idle() { ret; }
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestCounters(t *testing.T) {
	var b strings.Builder
	Counters(&b, term.Style{}, counts())
	want := `k
  instructions       12 345 of warps, 200 000 of threads; 16.2 of 32 lanes on average
  branches           8, 2 divergent (25.0 %)
  shared memory      4 requests, 10 wavefronts, 6 of them bank conflicts
  global memory      4 requests, 64 sectors (16.0 per request), 50.0 % of their bytes used
  barriers           line 9, bar.sync: 8 arrivals of warps, 256 of threads, 3 in vain
  tensor cores       f16 × f16 → f32: 8 192 operations in 2 instructions
  special functions  64 ex2.approx.f32 of threads

  family  warps  share     opcode   warps  share
  memory      8  0.1 %     mov.u32      8  0.1 %
                           ret          4  0.0 %

  memory  direction  by      bytes
  shared  write      ld, st    512

  line  bank conflicts  requests  wavefronts  conflicts
     8  st.shared.u32          4          10          6

  line  wasted bytes   requests  sectors per request    used
     9  ld.global.u32         4                 16.0  50.0 %
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
