package remote

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// kind is the kind of a frame. A frame is its kind (1 byte), the length of its data (4 bytes,
// big endian) and the data.
type kind byte

// The frames of a client.
const (
	order     kind = 'o' // JSON of an Order, the first frame
	input     kind = 'i' // a part of the tar of input files
	inputEnd  kind = 'I' // the input files are complete
	interrupt kind = 'c' // Ctrl-C
	collected kind = 'd' // the results arrived: the job may be deleted
)

// The frames of an agent.
const (
	state     kind = 's' // JSON of a jobState: the answer to an order
	stdout    kind = '1' // output of the job
	stderr    kind = '2' // error output of the job
	alive     kind = 'a' // sent every few seconds
	ended     kind = 'e' // JSON of an ending: the job has ended
	result    kind = 'r' // a part of the tar of results
	resultEnd kind = 'R' // the results are complete
	failure   kind = 'f' // text: the agent cannot do what was ordered
	answer    kind = 'l' // JSON: the answer to list and clean
)

// mostData is the largest data of a frame.
const mostData = 1 << 20

// errTorn is the error of a connection that ended inside of a dialogue.
var errTorn = errors.New("the connection was lost")

// writer writes frames. Several goroutines may use it.
type writer struct {
	mu sync.Mutex
	w  io.Writer
}

func (w *writer) send(k kind, data []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	head := make([]byte, 5, 5+len(data))
	head[0] = byte(k)
	binary.BigEndian.PutUint32(head[1:], uint32(len(data)))
	if _, err := w.w.Write(append(head, data...)); err != nil {
		return fmt.Errorf("%w: %w", errTorn, err)
	}
	return nil
}

func (w *writer) sendJSON(k kind, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return w.send(k, data)
}

// stream returns a writer whose data becomes frames of one kind.
func (w *writer) stream(k kind) io.Writer { return &stream{w, k} }

type stream struct {
	w *writer
	k kind
}

func (s *stream) Write(p []byte) (n int, err error) {
	for n < len(p) {
		part := p[n:min(len(p), n+mostData/4)]
		if err := s.w.send(s.k, part); err != nil {
			return n, err
		}
		n += len(part)
	}
	return n, nil
}

// frame is a frame that was received.
type frame struct {
	kind kind
	data []byte
}

// receive reads a frame. The end of the stream is errTorn.
func receive(r io.Reader) (f frame, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return f, fmt.Errorf("%w: %w", errTorn, err)
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size > mostData {
		return f, fmt.Errorf("a frame of %d bytes arrived, at most %d are allowed: the other side does not speak this protocol", size, mostData)
	}
	f = frame{kind(head[0]), make([]byte, size)}
	if _, err := io.ReadFull(r, f.data); err != nil {
		return f, fmt.Errorf("%w: %w", errTorn, err)
	}
	return f, nil
}

// Order is what a client asks an agent for.
type Order struct {
	What     string            `json:"what"` // "run", "list" or "clean"
	Job      string            `json:"job,omitempty"`
	Args     []string          `json:"args,omitempty"`
	Dir      string            `json:"dir,omitempty"`     // working folder, below the mirror
	Env      map[string]string `json:"env,omitempty"`     // added to the environment of the agent
	Outputs  []string          `json:"outputs,omitempty"` // files and folders that come back, below the mirror
	Evidence string            `json:"evidence,omitempty"`
	Client   string            `json:"client,omitempty"` // where the job was started, for people
	Stdin    bool              `json:"stdin,omitempty"`  // the inputs hold the standard input of the job
	// Seen is how many bytes of standard output and standard error the client has received.
	Seen [2]int64 `json:"seen"`
	Stop bool     `json:"stop,omitempty"` // for clean: end the jobs that run
}

// jobState answers an order to run.
type jobState struct {
	Found bool `json:"found"` // the job exists: no inputs are needed
}

// ending is how a job ended.
type ending struct {
	Done  bool   `json:"done"` // false while the job runs
	Code  int    `json:"code"`
	Error string `json:"error,omitempty"` // why Code says nothing about the command
}
