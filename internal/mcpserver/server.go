package mcpserver

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Server serves the tools. Its exported fields are limits.
type Server struct {
	Version  string
	Program  string        // the binary of attest
	Timeout  time.Duration // the timeout of one call
	Memory   int64         // bytes of the process of one call
	Evidence string        // folder that keeps records of gate, "" for none

	slots chan struct{} // calls that run
}

// mostCalls is the number of calls that run at the same time.
const mostCalls = 2

// Kernel is a kernel that a client sends or names.
type Kernel struct {
	PTX  string `json:"ptx,omitempty" jsonschema:"PTX text of the kernel; give either ptx or name"`
	Call string `json:"call,omitempty" jsonschema:"JSON that says how the kernel of ptx is called: entry, params, grid, block, shared; go doc github.com/GOATnote-Inc/attest/kernel/abi explains it"`
	Name string `json:"name,omitempty" jsonschema:"name of a kernel of attest, such as stage3b or stage3a+swizzle"`
}

type checkInput struct {
	PTX string `json:"ptx" jsonschema:"PTX text"`
}

type execInput struct {
	PTX    string            `json:"ptx" jsonschema:"PTX text"`
	Launch string            `json:"launch" jsonschema:"launch file: JSON with entry, grid, block, params; attest exec --help describes it"`
	Files  map[string]string `json:"files,omitempty" jsonschema:"text files that the launch file names, such as x.f32.txt, by their names"`
	Check  string            `json:"check,omitempty" jsonschema:"defects to look for: all (the default), none, or kinds with commas"`
}

type gateInput struct {
	Kernel
	Shape string `json:"shape,omitempty" jsonschema:"a further shape B,H,S,D to judge"`
	Plan  string `json:"plan,omitempty" jsonschema:"how much is measured: smoke (the default) or quick"`
}

type shapeInput struct {
	Kernel
	Shape string `json:"shape,omitempty" jsonschema:"shape B,H,S,D"`
	Chip  string `json:"chip,omitempty" jsonschema:"GPU to predict for: A100, L4, L40S, RTX-4090, H100 or H200"`
}

type diffInput struct {
	Kernel
	Against string `json:"against,omitempty" jsonschema:"name of a kernel of attest to compare with; the float64 reference when empty"`
	Shape   string `json:"shape,omitempty" jsonschema:"shape B,H,S,D"`
	Seed    uint32 `json:"seed,omitempty" jsonschema:"seed of the inputs"`
}

// Run serves a client until in ends.
func (s *Server) Run(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	s.slots = make(chan struct{}, mostCalls)
	server := mcp.NewServer(&mcp.Implementation{Name: "attest", Version: s.Version}, nil)
	add(s, server, "check", "Find errors in PTX: syntax, types, control flow, barriers. Returns JSON with diagnostics.", (*checkInput).job)
	add(s, server, "exec", "Run the kernels of a PTX text on the emulator as a launch file says, compare what they write, and find races and other defects. Returns JSON.", (*execInput).job)
	add(s, server, "gate", "Judge an attention kernel: resources, defects, correctness. Returns JSON with the verdict and its reasons.", (*gateInput).job)
	add(s, server, "profile", "Predict the time of a kernel and show what it waits for. Returns JSON; times are PREDICTED, in microseconds.", (*shapeInput).profile)
	add(s, server, "explain", "Name the changes to a kernel with the largest predicted gain. Returns JSON.", (*shapeInput).explain)
	add(s, server, "diff", "Find the first intermediate value (S, m, l, P or O) in which a kernel differs from the reference or from another kernel. Returns JSON.", (*diffInput).job)
	return server.Run(ctx, &mcp.IOTransport{Reader: in, Writer: out, MaxLineLength: 4 * mostText})
}

// add adds a tool. describe turns the input of a client into a job.
func add[In any](s *Server, server *mcp.Server, name, text string, describe func(*In) (*job, error)) {
	mcp.AddTool(server, &mcp.Tool{Name: name, Description: text}, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		j, err := describe(&in)
		if err != nil {
			return nil, nil, err
		}
		text, failed, err := s.do(ctx, j)
		if err != nil {
			return nil, nil, err
		}
		return &mcp.CallToolResult{IsError: failed, Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
	})
}

// What a client may write where a command takes a name or a shape. None of it can be a flag or a
// path.
var (
	isKernel = regexp.MustCompile(`^[a-z][a-z0-9+=,-]{0,200}$`)
	isShape  = regexp.MustCompile(`^[0-9a-z][0-9a-z,/]{0,60}$`)
	isChip   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,20}$`)
	isKinds  = regexp.MustCompile(`^[a-z][a-z,-]{0,300}$`)
)

func word(what, text string, is *regexp.Regexp) error {
	if !is.MatchString(text) {
		return fmt.Errorf("%s %q is not valid", what, text)
	}
	return nil
}
