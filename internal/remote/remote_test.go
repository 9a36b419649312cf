package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/internal/term"
)

// TestMain makes the binary of this test act as attest on the remote machine: it is the agent, and
// it is the jobs.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case AgentCommand:
			if err := Agent(context.Background(), os.Args[2:], os.Stdin, os.Stdout); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(2)
			}
			return
		case "job":
			os.Exit(testJob(os.Args[2:]))
		}
	}
	os.Exit(m.Run())
}

// testJob is the command that the tests run on the remote machine.
func testJob(args []string) int {
	switch args[0] {
	case "copy": // FROM TO: copies a file, and standard input to standard output
		data, err := os.ReadFile(args[1])
		if err == nil {
			err = os.WriteFile(args[2], data, 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
		io.Copy(os.Stdout, os.Stdin)
		fmt.Fprintln(os.Stderr, "copied on", os.Getenv("ATTEST_REMOTE_HOST"), os.Getenv("EXTRA"))
		return 7
	case "count": // FILE N: prints N numbers, slowly; FILE gets a line per start
		f, err := os.OpenFile(args[1], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return 2
		}
		fmt.Fprintln(f, "started")
		var n int
		fmt.Sscan(args[2], &n)
		for i := range n {
			fmt.Println(i)
			time.Sleep(5 * time.Millisecond)
		}
		return 0
	case "wait": // waits for Ctrl-C
		c := make(chan os.Signal, 1)
		signal.Notify(c, os.Interrupt)
		fmt.Println("waiting")
		<-c
		fmt.Println("interrupted")
		return 130
	case "terminal":
		fmt.Println(term.IsTerminal(os.Stdout), term.IsTerminal(os.Stderr))
	case "fill": // FILE: writes until the disk is full
		f, err := os.Create(args[1])
		for err == nil {
			_, err = f.Write(make([]byte, 1<<16))
		}
		fmt.Println(err)
		return 1
	case "die":
		p, _ := os.FindProcess(os.Getppid())
		p.Kill()
		time.Sleep(50 * time.Millisecond)
	}
	return 0
}

// selfSum is the hash of the binary of the test.
var selfSum = sync.OnceValue(func() string {
	sum, err := selfHash()
	if err != nil {
		panic(err)
	}
	return sum
})

// lockedBuffer is a buffer for several goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// testClient is a client with the output that it received.
type testClient struct {
	*Client
	out, errs lockedBuffer
}

// newTestClient returns a client for a server that has the binary already, to save time.
func newTestClient(t *testing.T, s *server) *testClient {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	sum := selfSum()
	dir := filepath.Join(s.home, ".attest-remote", "bin", sum)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	os.Symlink(self, filepath.Join(dir, "attest")) // it exists for the second client of a test
	c := &testClient{}
	c.Client = &Client{
		Host: Host{Name: "far", SSH: s.command()}, Out: &c.out, Err: &c.errs,
		Say: func(string, ...any) {}, Quiet: func() {},
		Binary:   func(context.Context, string, string) (string, error) { return self, nil },
		Patience: 10 * time.Second,
	}
	return c
}

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

func TestRun(t *testing.T) {
	s := startServer(t)
	s.env = []string{"ENV="}
	c := newTestClient(t, s)
	c.Host.Env = map[string]string{"EXTRA": "more"}
	if err := os.RemoveAll(filepath.Join(s.home, ".attest-remote")); err != nil { // the first run sends the binary
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("in", []byte("content"), 0o644); err != nil {
		t.Fatal(err)
	}
	job := Job{Args: []string{"job", "copy", "in", "../out"}, Reads: []string{"in"}, Writes: []string{"../out"}, Stdin: []byte("typed")}
	for range 2 { // the second time, the binary is there
		code, err := c.Run(t.Context(), job)
		if code != 7 || err != nil {
			t.Fatalf("exit code %d, error %v\n%s", code, err, &c.errs)
		}
	}
	if c.out.String() != "typedtyped" || c.errs.String() != strings.Repeat("copied on far more\n", 2) {
		t.Errorf("output %q, error output %q", &c.out, &c.errs)
	}
	if data, err := os.ReadFile("../out"); string(data) != "content" || err != nil {
		t.Errorf("the output file: %q, %v", data, err)
	}
	if left := s.files(t); len(left) > 0 {
		t.Errorf("left over there: %v", left)
	}
	done, err := c.Clean(t.Context(), false)
	if err != nil || !done.Removed || len(done.Binaries) != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	left, _ := os.ReadDir(s.home)
	if len(left) > 0 {
		t.Errorf("clean leaves %v", left)
	}
	if inv, err := c.List(t.Context()); inv != nil || err != nil {
		t.Errorf("after clean: %+v, %v", inv, err)
	}
}

// TestCut cuts the connection several times. The output is complete, and the job runs once.
func TestCut(t *testing.T) {
	s := startServer(t)
	c := newTestClient(t, s)
	t.Chdir(t.TempDir())
	starts := filepath.Join(t.TempDir(), "starts")
	done := make(chan error, 1)
	go func() {
		code, err := c.Run(context.Background(), Job{Args: []string{"job", "count", starts, "200"}})
		if code != 0 {
			err = fmt.Errorf("exit code %d", code)
		}
		done <- err
	}()
	for _, line := range []string{"\n20\n", "\n100\n"} {
		until(t, "the output has"+line, func() bool { return strings.Contains(c.out.String(), line) })
		s.cut()
	}
	if err := <-done; err != nil {
		t.Fatalf("%v\n%s", err, &c.errs)
	}
	var want strings.Builder
	for i := range 200 {
		fmt.Fprintln(&want, i)
	}
	if c.out.String() != want.String() {
		t.Errorf("the output is\n%s", &c.out)
	}
	if text, _ := os.ReadFile(starts); string(text) != "started\n" {
		t.Errorf("the job was started more than once: %q", text)
	}
	if !strings.Contains(c.errs.String(), "the connection to far was lost; the job continues there; connecting again") {
		t.Errorf("error output %q", &c.errs)
	}
}

// TestFindAgain gives up on a connection. A new client with the same command follows the job from
// its beginning, and list shows the job meanwhile.
func TestFindAgain(t *testing.T) {
	s := startServer(t)
	t.Chdir(t.TempDir())
	starts := filepath.Join(t.TempDir(), "starts")
	job := Job{Args: []string{"job", "count", starts, "150"}}
	first := newTestClient(t, s)
	first.Patience = time.Nanosecond
	done := make(chan error, 1)
	go func() {
		_, err := first.Run(context.Background(), job)
		done <- err
	}()
	until(t, "there is output", func() bool { return strings.Contains(first.out.String(), "\n5\n") })
	s.cut()
	if err := <-done; err == nil || !strings.Contains(err.Error(), "the same command follows it again") {
		t.Fatalf("after the cut: %v", err)
	}
	second := newTestClient(t, s)
	inv, err := second.List(t.Context())
	if err != nil || len(inv.Jobs) != 1 || inv.Jobs[0].State != "running" || !strings.Contains(inv.Jobs[0].Command, "attest job count") {
		t.Fatalf("%+v, %v", inv, err)
	}
	if done, err := second.Clean(t.Context(), false); err != nil || done.Removed {
		t.Errorf("clean removed a job that runs: %+v, %v", done, err)
	}
	if _, err := second.Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(second.out.String(), "\n"); n != 150 || !strings.HasPrefix(second.out.String(), "0\n1\n") {
		t.Errorf("%d lines: %s", n, &second.out)
	}
	if !strings.Contains(second.errs.String(), "this job was started on far before") {
		t.Errorf("error output %q", &second.errs)
	}
	if text, _ := os.ReadFile(starts); string(text) != "started\n" {
		t.Errorf("the job was started more than once: %q", text)
	}
}

func TestInterrupt(t *testing.T) {
	s := startServer(t)
	c := newTestClient(t, s)
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		until(t, "the job runs", func() bool { return c.out.String() == "waiting\n" })
		cancel()
	}()
	code, err := c.Run(ctx, Job{Args: []string{"job", "wait"}})
	if code != 130 || err != nil || c.out.String() != "waiting\ninterrupted\n" {
		t.Errorf("exit code %d, error %v, output %q", code, err, &c.out)
	}
}

// TestStop ends a job with clean.
func TestStop(t *testing.T) {
	s := startServer(t)
	c := newTestClient(t, s)
	t.Chdir(t.TempDir())
	c.Patience = time.Nanosecond
	go c.Run(context.Background(), Job{Args: []string{"job", "wait"}})
	until(t, "the job runs", func() bool { return c.out.String() == "waiting\n" })
	s.cut()
	done, err := newTestClient(t, s).Clean(t.Context(), true)
	if err != nil || !done.Removed || len(done.Jobs) != 1 {
		t.Errorf("%+v, %v", done, err)
	}
}

// TestDeath kills the supervisor: the job has no exit code.
func TestDeath(t *testing.T) {
	s := startServer(t)
	c := newTestClient(t, s)
	t.Chdir(t.TempDir())
	_, err := c.Run(t.Context(), Job{Args: []string{"job", "die"}})
	if err == nil || !strings.Contains(err.Error(), "the job ended without an exit code") {
		t.Errorf("error %v", err)
	}
}

func TestTerminals(t *testing.T) {
	s := startServer(t)
	c := newTestClient(t, s)
	t.Chdir(t.TempDir())
	if _, err := c.Run(t.Context(), Job{Args: []string{"job", "terminal"}, Env: map[string]string{term.TerminalsVariable: "stderr"}}); err != nil || c.out.String() != "false true\n" {
		t.Errorf("%q, %v", &c.out, err)
	}
}

// TestWrongArchitecture meets a machine that says it is another one, so that the binary does not
// run, and machines that attest does not run on.
func TestWrongArchitecture(t *testing.T) {
	s := startServer(t)
	bin := t.TempDir()
	uname := func(system, machine string) {
		text := fmt.Sprintf("#!/bin/sh\nif [ \"$1\" = -s ]; then echo %s; else echo %s; fi\n", system, machine)
		if err := os.WriteFile(filepath.Join(bin, "uname"), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.env = []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
	c := newTestClient(t, s)
	t.Chdir(t.TempDir())
	c.Binary = func(_ context.Context, goos, goarch string) (string, error) {
		if goos != "linux" || goarch != "arm64" {
			t.Errorf("asked for %s/%s", goos, goarch)
		}
		// No machine runs this file.
		file := filepath.Join(t.TempDir(), "attest")
		return file, os.WriteFile(file, []byte("\x7fELF nonsense\n\x00\x01\n"), 0o755)
	}
	uname("Linux", "aarch64")
	_, err := c.Run(t.Context(), Job{Args: []string{"job", "terminal"}})
	if err == nil || !strings.Contains(err.Error(), "the binary for linux/arm64 does not run on far") {
		t.Errorf("error %v", err)
	}
	if bins, _ := filepath.Glob(filepath.Join(s.home, ".attest-remote/bin/*")); len(bins) > 1 {
		t.Errorf("left over there: %v", bins)
	}
	uname("Linux", "riscv64")
	_, err = c.Run(t.Context(), Job{Args: []string{"job", "terminal"}})
	if err == nil || !strings.Contains(err.Error(), `far is a machine of type "Linux riscv64": attest runs on Linux and macOS, x86_64 and arm64`) {
		t.Errorf("error %v", err)
	}
}

// TestChatter has a login script that talks on both streams.
func TestChatter(t *testing.T) {
	s := startServer(t)
	c := newTestClient(t, s)
	t.Chdir(t.TempDir())
	c.Host.SSH = "sh -c 'echo welcome; printf prompt; exec \"$@\"' sh " + c.Host.SSH
	if _, err := c.Run(t.Context(), Job{Args: []string{"job", "terminal"}}); err != nil || c.out.String() != "false false\n" {
		t.Errorf("%q, %v", &c.out, err)
	}
}

func TestUnreachable(t *testing.T) {
	s := startServer(t)
	c := newTestClient(t, s)
	c.Host.SSH = strings.Replace(s.command(), "-i "+s.key, "-i /dev/null", 1)
	_, err := c.Run(t.Context(), Job{Args: []string{"job", "terminal"}})
	if err == nil || !strings.Contains(err.Error(), "far cannot be reached") || !strings.Contains(c.errs.String(), "Permission denied") {
		t.Errorf("error %v, error output %q", err, &c.errs)
	}
	if _, err := c.Clean(t.Context(), false); err == nil || !strings.Contains(err.Error(), "far cannot be reached") {
		t.Errorf("clean: %v", err)
	}
}

// TestForeignFile has an agent that sends a file that the command does not name.
func TestForeignFile(t *testing.T) {
	d := &dialogue{session: &session{Client: &Client{Host: Host{Name: "far"}}, order: &Order{Outputs: []string{"tmp/out"}}, job: &Job{}}}
	for _, name := range []string{"fs/etc/passwd", "fs/tmp/outside", "other", evidencePack} {
		if err := d.place(name, strings.NewReader("x")); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func TestSplit(t *testing.T) {
	got, err := split(`ssh -o "A B" 'c d'e \f ""`)
	if want := []string{"ssh", "-o", "A B", "c de", "f", ""}; err != nil || strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := split(`ssh "box`); err == nil {
		t.Error("an open quote was accepted")
	}
}

func TestWire(t *testing.T) {
	var b bytes.Buffer
	w := &writer{w: &b}
	long := bytes.Repeat([]byte("x"), mostData)
	if _, err := w.stream(result).Write(long); err != nil {
		t.Fatal(err)
	}
	var got []byte
	for b.Len() > 0 {
		f, err := receive(&b)
		if err != nil || f.kind != result {
			t.Fatalf("%c, %v", f.kind, err)
		}
		got = append(got, f.data...)
	}
	if !bytes.Equal(got, long) {
		t.Errorf("%d bytes", len(got))
	}
	if _, err := receive(strings.NewReader("1\x00\x00\x00\x05abc")); !errors.Is(err, errTorn) {
		t.Errorf("a torn frame: %v", err)
	}
	if _, err := receive(strings.NewReader("1\xff\xff\xff\xff")); err == nil || errors.Is(err, errTorn) {
		t.Errorf("a huge frame: %v", err)
	}
}

func TestHosts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "attest", "hosts.json")
	hosts, err := ReadHosts(file)
	if err != nil || len(hosts) != 0 {
		t.Fatal(hosts, err)
	}
	if err := hosts.Add(Host{Name: "l4", SSH: "gcloud compute ssh box --", Dir: "/scratch"}); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []Host{{Name: "-x"}, {Name: "a b"}, {Name: "b", SSH: `"`}} {
		if hosts.Add(bad) == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
	if err := hosts.Write(file); err != nil {
		t.Fatal(err)
	}
	if again, err := ReadHosts(file); err != nil || again["l4"].Dir != "/scratch" || again["l4"].Name != "l4" {
		t.Errorf("%+v, %v", again, err)
	}
	os.WriteFile(file, []byte(`{"hosts": {"l4": {"shh": "x"}}}`), 0o600)
	if _, err := ReadHosts(file); err == nil || !strings.Contains(err.Error(), "shh") {
		t.Errorf("a field that is misspelt: %v", err)
	}
}

// TestFolderWord runs the word in a shell.
func TestFolderWord(t *testing.T) {
	for dir, want := range map[string]string{"": "/h o/.attest-remote", "~/a b": "/h o/a b", "/x'y": "/x'y"} {
		c := exec.Command("sh", "-c", "printf %s "+folderWord(dir))
		c.Env = []string{"HOME=/h o"}
		if out, err := c.Output(); err != nil || string(out) != want {
			t.Errorf("%q: %q, %v", dir, out, err)
		}
	}
}
