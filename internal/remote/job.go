package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/GOATnote-Inc/attest/internal/atomicfile"
)

// job is the folder of a job on the remote machine.
type job struct{ dir string }

// The files of a job.
const (
	orderFile  = "order.json"
	lockFile   = "lock"   // the supervisor holds it as long as it lives
	pidFile    = "pid"    // the process ID of the supervisor, which leads the process group of the job
	exitFile   = "exit"   // an ending, padded to exitSize
	mirrorDir  = "fs"     // mirrors the folders of the client
	stdinFile  = "stdin"  // standard input of the job
	stdoutFile = "stdout" // output of the job
	stderrFile = "stderr"
)

func (j job) path(name string) string { return filepath.Join(j.dir, name) }

// exitSize is the size of the file of an ending. The file gets its blocks before the job starts,
// so that the exit code can be written to a full disk.
const exitSize = 1024

// finish writes how the job ended.
func (j job) finish(e ending) error {
	e.Done = true
	e.Error = e.Error[:min(len(e.Error), exitSize/2)]
	f, err := os.OpenFile(j.path(exitFile), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	data, err := json.Marshal(e)
	if err == nil {
		_, err = f.Write(append(data, strings.Repeat(" ", max(0, exitSize-len(data)))...))
	}
	return errors.Join(err, f.Close())
}

// running reports whether the supervisor lives. It holds a lock, so neither a reboot nor another
// process with the same number can deceive.
func (j job) running() bool {
	f, err := os.Open(j.path(lockFile))
	if err != nil {
		return false
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil
}

// ending returns how a job ended that runs no longer.
func (j job) ending() ending {
	var e ending
	data, err := os.ReadFile(j.path(exitFile))
	if err != nil || json.Unmarshal(data, &e) != nil || !e.Done {
		e = ending{Done: true, Error: "the job ended without an exit code: it was killed, or the machine was restarted" + fullDisk(j.dir)}
	}
	return e
}

// fullDisk returns a remark if the disk of a folder has no space.
func fullDisk(dir string) string {
	var fs syscall.Statfs_t
	if syscall.Statfs(dir, &fs) != nil || uint64(fs.Bavail)*uint64(fs.Bsize) > 64<<10 {
		return ""
	}
	return "; the disk of " + dir + " is full"
}

// signal sends a signal to all processes of the job.
func (j job) signal(s syscall.Signal) {
	text, err := os.ReadFile(j.path(pidFile))
	pid, bad := strconv.Atoi(strings.TrimSpace(string(text)))
	if err == nil && bad == nil && pid > 1 && j.running() {
		syscall.Kill(-pid, s)
	}
}

// end ends the job: it asks first, and kills after a while.
func (j job) end(patience time.Duration) {
	j.signal(syscall.SIGINT)
	for deadline := time.Now().Add(patience); j.running(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			j.signal(syscall.SIGKILL)
			deadline = deadline.Add(patience)
		}
	}
}

// order reads what was ordered.
func (j job) order() (o Order, err error) {
	data, err := os.ReadFile(j.path(orderFile))
	if err != nil {
		return o, err
	}
	return o, json.Unmarshal(data, &o)
}

// prepare fills the folder of a job. unpack writes the input files.
func (j job) prepare(o *Order, unpack func(to string) error) error {
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(j.path(mirrorDir), o.Dir), 0o700); err != nil {
		return err
	}
	if err := unpack(j.dir); err != nil {
		return err
	}
	blank := []byte(strings.Repeat(" ", exitSize))
	return errors.Join(atomicfile.Write(j.path(orderFile), data), atomicfile.Write(j.path(exitFile), blank))
}

// start starts the supervisor of the job in a session of its own, so that the end of the
// connection does not reach it.
func (j job) start() error {
	lock, err := os.OpenFile(j.path(lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("the lock of a new job: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.Command(self, AgentCommand, "supervise", j.dir)
	c.Args[0] = "attest"
	c.ExtraFiles = []*os.File{lock} // the supervisor inherits the lock
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		return err
	}
	return c.Process.Release()
}
