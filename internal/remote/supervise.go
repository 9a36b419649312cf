package remote

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// supervise runs the command of a job and writes its exit code. It holds the lock of the job,
// which it inherited as file 3.
func supervise(dir string) error {
	syscall.CloseOnExec(3)
	// Signals are for the command, which is in the same process group. They are caught and not
	// ignored, because the command would inherit that they are ignored.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGHUP, syscall.SIGTERM)
	j := job{dir}
	e := ending{}
	code, err := j.run()
	if err != nil {
		e.Error = err.Error()
	}
	e.Code = code
	if full := fullDisk(dir); full != "" && code != 0 {
		e.Error = strings.TrimPrefix(e.Error+full, "; ")
	}
	return j.finish(e)
}

// run runs the command of the job and returns its exit code.
func (j job) run() (code int, err error) {
	o, err := j.order()
	if err != nil {
		return 0, err
	}
	if err := os.WriteFile(j.path(pidFile), []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		return 0, err
	}
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	c := exec.Command(self)
	c.Args = append([]string{"attest"}, o.Args...)
	c.Dir = filepath.Join(j.path(mirrorDir), o.Dir)
	c.Env = os.Environ()
	for name, value := range o.Env {
		c.Env = append(c.Env, name+"="+value)
	}
	var files []*os.File
	open := func(name string, flag int) (f *os.File) {
		if err != nil {
			return nil
		}
		if f, err = os.OpenFile(name, flag, 0o600); err == nil {
			files = append(files, f)
		}
		return f
	}
	in := os.DevNull
	if o.Stdin {
		in = j.path(stdinFile)
	}
	c.Stdin = open(in, os.O_RDONLY)
	c.Stdout = open(j.path(stdoutFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND)
	c.Stderr = open(j.path(stderrFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return 0, err
	}
	err = c.Run()
	for _, f := range files {
		f.Close()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		return exit.ExitCode(), nil
	}
	if errors.As(err, &exit) {
		return 128, errors.New("the command ended there: " + exit.Error())
	}
	return 0, err
}
