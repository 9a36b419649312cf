package remote

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
)

// server is an SSH server on the loopback. It runs commands in a shell with its own home folder,
// as sshd does.
type server struct {
	home string   // the home of the remote user
	env  []string // further variables of commands
	addr string
	key  string // file with the private key of the user

	mu    sync.Mutex
	conns []*served
}

// served is a connection with the processes of its commands.
type served struct {
	net.Conn
	mu   sync.Mutex
	cmds []*exec.Cmd
}

// startServer starts a server for a test. The test is skipped without an ssh client.
func startServer(t *testing.T) *server {
	if _, err := exec.LookPath("ssh"); err != nil {
		t.Skip("the ssh client is not installed: install openssh-client")
	}
	s := &server{home: t.TempDir()}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	s.key = filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(s.key, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	user, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	config := &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, k ssh.PublicKey) (*ssh.Permissions, error) {
		if string(k.Marshal()) != string(user.Marshal()) {
			return nil, fmt.Errorf("unknown key")
		}
		return nil, nil
	}}
	_, hostKey, _ := ed25519.GenerateKey(rand.Reader)
	signer, err := ssh.NewSignerFromKey(hostKey)
	if err != nil {
		t.Fatal(err)
	}
	config.AddHostKey(signer)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close(); s.cut() })
	s.addr = l.Addr().String()
	go s.accept(l, config)
	return s
}

// command returns the ssh command that reaches the server.
func (s *server) command() string {
	_, port, _ := net.SplitHostPort(s.addr)
	return fmt.Sprintf("ssh -T -F none -i %s -p %s -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR 127.0.0.1", s.key, port)
}

func (s *server) accept(l net.Listener, config *ssh.ServerConfig) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		conn := &served{Conn: c}
		s.mu.Lock()
		s.conns = append(s.conns, conn)
		s.mu.Unlock()
		go s.serve(conn, config)
	}
}

// cut cuts all connections, and hangs up on their commands as sshd does.
func (s *server) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		c.Close()
		c.mu.Lock()
		for _, cmd := range c.cmds {
			cmd.Process.Kill()
		}
		c.mu.Unlock()
	}
	s.conns = nil
}

func (s *server) serve(conn *served, config *ssh.ServerConfig) {
	defer conn.Close()
	_, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for c := range channels {
		ch, reqs, err := c.Accept()
		if err != nil {
			return
		}
		for r := range reqs {
			if r.Type != "exec" {
				r.Reply(false, nil)
				continue
			}
			r.Reply(true, nil)
			go s.exec(conn, ch, string(r.Payload[4:]))
		}
	}
}

// exec runs a command of a client.
func (s *server) exec(conn *served, ch ssh.Channel, line string) {
	defer ch.Close()
	cmd := exec.Command("sh", "-c", line)
	cmd.Env = append([]string{"HOME=" + s.home, "PATH=" + os.Getenv("PATH")}, s.env...)
	cmd.Dir = s.home
	in, err := cmd.StdinPipe()
	if err != nil {
		return
	}
	cmd.Stdout, cmd.Stderr = ch, ch.Stderr()
	if cmd.Start() != nil {
		return
	}
	conn.mu.Lock()
	conn.cmds = append(conn.cmds, cmd)
	conn.mu.Unlock()
	go func() {
		io.Copy(in, ch)
		in.Close()
	}()
	cmd.Wait()
	code := max(cmd.ProcessState.ExitCode(), 0)
	ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Code uint32 }{uint32(code)}))
}

// files returns the names of the files below the folder of attest, without binaries.
func (s *server) files(t *testing.T) (names []string) {
	top := filepath.Join(s.home, ".attest-remote")
	filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			name := strings.TrimPrefix(path, top+"/")
			if !strings.HasPrefix(name, "bin/") {
				names = append(names, name)
			}
		}
		return nil
	})
	return names
}
