package remote

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/GOATnote-Inc/attest/internal/term"
)

// connection is a running ssh command with a shell, and later the agent, at its other end.
type connection struct {
	host  *Host
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	nonce string // begins the lines that are for us
	dir   string // shell word: the folder over there
	once  sync.Once
	// answered is whether a shell answered: what fails later is not the address.
	answered bool
}

// ignoreInterrupt starts a command that does not end by Ctrl-C. The terminal sends Ctrl-C to ssh,
// too, but the connection has to carry it to the job. A process group of its own would keep ssh
// from asking for a password.
const ignoreInterrupt = `trap "" INT; exec "$@"`

// dial starts ssh with a shell at the other end.
func dial(h *Host, errs io.Writer) (*connection, error) {
	words, err := h.command()
	if err != nil {
		return nil, err
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		return nil, fmt.Errorf("%s reaches %s, but it is not installed here: %w", words[0], h.Name, err)
	}
	c := &connection{host: h, nonce: rand.Text(), dir: folderWord(h.Dir)}
	c.cmd = exec.Command("sh", append([]string{"-c", ignoreInterrupt, "sh"}, append(words, "sh")...)...)
	c.cmd.Stderr = errs
	c.cmd.WaitDelay = time.Second // processes that ssh has started may hold its error stream open
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewReaderSize(out, 1<<16)
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", words[0], err)
	}
	return c, nil
}

// close ends the connection.
func (c *connection) close() {
	c.once.Do(func() {
		c.in.Close()
		c.cmd.Process.Kill()
		c.cmd.Wait()
	})
}

// lost returns the error of a connection that ended before the agent spoke.
func (c *connection) lost() error {
	c.in.Close()
	if err := c.cmd.Wait(); err != nil {
		return fmt.Errorf("%w: %s ended: %w", errTorn, c.cmd.Args[4], err)
	}
	return errTorn
}

// folderWord returns the folder of attest as a word of the shell.
func folderWord(dir string) string {
	dir = cmp.Or(dir, "~/.attest-remote")
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		return `"$HOME"/` + quote(rest)
	}
	return quote(dir)
}

// quote returns text as a word of the shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// ask sends commands to the shell and returns the line that it answers. The commands print their
// answer with say, which is defined by hello; other lines come from login scripts.
func (c *connection) ask(commands string) (string, error) {
	if _, err := io.WriteString(c.in, commands+"\n"); err != nil {
		return "", c.lost()
	}
	return c.line()
}

// mostChatter is how much a login script may print.
const mostChatter = 1 << 20

// line returns the next line that begins with the nonce, without it.
func (c *connection) line() (string, error) {
	for read := 0; read < mostChatter; {
		text, err := c.out.ReadString('\n')
		if at := strings.Index(text, c.nonce+" "); at >= 0 && err == nil {
			return strings.TrimSpace(text[at+len(c.nonce)+1:]), nil
		}
		if err != nil {
			return "", c.lost()
		}
		read += len(text)
	}
	return "", fmt.Errorf("%s does not answer as a POSIX shell does: it printed %d bytes of other text", c.host.Name, mostChatter)
}

// systems and architectures by what uname prints.
var (
	systems = map[string]string{"Linux": "linux", "Darwin": "darwin"}
	archs   = map[string]string{"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
)

// platform asks for the system and the architecture of the machine.
func (c *connection) platform() (goos, goarch string, err error) {
	// The nonce is in two parts, so that an echo of the command does not look like its answer.
	half := len(c.nonce) / 2
	text, err := c.ask(fmt.Sprintf(`set -f; LC_ALL=C; export LC_ALL; umask 077; n=%s; n=${n}%s; d=%s; case $d in /*) ;; *) d=$HOME/$d ;; esac
say() { printf '\n%%s %%s\n' "$n" "$*"; }; say "$(uname -s) $(uname -m)"`, c.nonce[:half], c.nonce[half:], c.dir))
	if err != nil {
		return "", "", err
	}
	c.answered = true
	system, machine, _ := strings.Cut(text, " ")
	goos, goarch = systems[system], archs[machine]
	if goos == "" || goarch == "" {
		return "", "", fmt.Errorf("%s is a machine of type %q: attest runs on Linux and macOS, x86_64 and arm64", c.host.Name, text)
	}
	return goos, goarch, nil
}

// exists asks whether the folder of attest is there.
func (c *connection) exists() (bool, error) {
	text, err := c.ask(`if [ -d "$d" ]; then say yes; else say no; fi`)
	return text == "yes", err
}

// receiveBinary is the shell's part of install. It is a function, because head reads the same
// stream as the shell: the call must be the last line before the data. The last cat takes what is
// left if gzip stops early, because the shell would read it as commands. Errors are collected,
// because an answer is one line.
const receiveBinary = `receive() {
say ready
m=$({ head -c $1 | { gzip -dc >"$p/attest"; r=$?; cat >/dev/null; exit $r; }; } 2>&1)
if [ $? != 0 ]; then rm -rf "$p"; say fail $m; return; fi
chmod 700 "$p/attest"
m=$("$p/attest" %s hash 2>&1 </dev/null | head -c 300)
if [ "$m" != "$2" ]; then rm -rf "$p"; say start $m; return; fi
rm -rf "$b"
if m=$(mv "$p" "$b" 2>&1); then say ok; else say fail $m; fi
}
receive %d %s`

// install sends the binary unless the machine has it. say reports progress.
func (c *connection) install(binary, sum, platform string, say func(format string, args ...any)) error {
	text, err := c.ask(fmt.Sprintf(`b=$d/bin/%s; p=$d/bin/part-$$
if [ -x "$b/attest" ]; then say have; elif m=$(mkdir -p "$p" 2>&1); then say send; else say "fail" $m; fi`, sum))
	if err != nil || text == "have" {
		return err
	}
	if m, bad := strings.CutPrefix(text, "fail "); bad {
		return c.cannotWrite(m)
	}
	data, err := compressed(binary)
	if err != nil {
		return err
	}
	say("sending attest for %s to %s (%.0f MB)", platform, c.host.Name, float64(len(data))/1e6)
	if _, err = c.ask(fmt.Sprintf(receiveBinary, AgentCommand, len(data), sum)); err != nil { // it says ready
		return err
	}
	if _, err := c.in.Write(data); err != nil {
		return c.lost()
	}
	if text, err = c.line(); err != nil {
		return err
	}
	switch what, m, _ := strings.Cut(text, " "); what {
	case "ok":
		return nil
	case "start":
		return fmt.Errorf("the binary for %s does not run on %s: %s", platform, c.host.Name, term.Clean(m))
	default:
		return c.cannotWrite(m)
	}
}

// cannotWrite explains that the folder over there cannot be written.
func (c *connection) cannotWrite(why string) error {
	return fmt.Errorf("%s: attest cannot write its folder there: %s; free some space, or name another folder with attest remote add NAME --dir", c.host.Name, term.Clean(cmp.Or(why, "the transfer failed")))
}

func compressed(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	_, err = io.Copy(z, f)
	err = errors.Join(err, z.Close())
	return b.Bytes(), err
}

// serve starts the agent in place of the shell.
func (c *connection) serve() error {
	want := greeting(c.nonce)
	if _, err := fmt.Fprintf(c.in, "\"$b/attest\" %s serve \"$d\" %s; say ended; exit\n", AgentCommand, c.nonce); err != nil {
		return c.lost()
	}
	for {
		text, err := c.out.ReadString('\n')
		switch {
		case err != nil:
			return c.lost()
		case strings.TrimSpace(text) == want:
			return nil
		case strings.HasPrefix(text, c.nonce+" ended"):
			return fmt.Errorf("attest does not start on %s: see the message above; attest remote clean %s removes what is there", c.host.Name, c.host.Name)
		}
	}
}

// open connects to a host and starts the agent there.
func (c *Client) open(ctx context.Context) (conn *connection, err error) {
	conn, err = dial(&c.Host, c.Err)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.cmd.Process.Kill() })
	defer stop()
	defer func() {
		if err != nil {
			conn.close()
		}
		if ctx.Err() != nil {
			err = ctx.Err()
		}
	}()
	goos, goarch, err := conn.platform()
	if err != nil {
		return conn, err
	}
	platform := goos + "/" + goarch
	binary, err := c.Binary(ctx, goos, goarch)
	if err != nil {
		return conn, err
	}
	sum, err := hashFile(binary)
	if err != nil {
		return conn, err
	}
	if err := conn.install(binary, sum, platform, c.Say); err != nil {
		return conn, err
	}
	return conn, conn.serve()
}
