package rival

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// FA3Dir returns the folder of the FlashAttention-3 that BuildFA3 has built: $ATTEST_FA3, else
// a folder in the user's cache.
func FA3Dir() (string, error) {
	if dir := os.Getenv("ATTEST_FA3"); dir != "" {
		return dir, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder for FlashAttention-3: %w; set ATTEST_FA3", err)
	}
	return filepath.Join(cache, "attest", "fa3"), nil
}

// BuildFA3 compiles the FP8 forward kernels of FlashAttention-3 into FA3Dir, from a checkout of
// its repository and one of CUTLASS. An empty cutlass is the submodule of the checkout. progress
// receives each line that the build prints. A build that fails leaves the earlier one as it was.
func BuildFA3(ctx context.Context, source, cutlass string, progress func(string)) error {
	if cutlass == "" {
		cutlass = filepath.Join(source, "csrc", "cutlass")
	}
	if _, err := os.Stat(filepath.Join(source, "hopper", "flash_api.cpp")); err != nil {
		return fmt.Errorf("%s is not a checkout of flash-attention: %w", source, err)
	}
	if _, err := os.Stat(filepath.Join(cutlass, "include", "cutlass", "cutlass.h")); err != nil {
		return fmt.Errorf("%s is not a checkout of CUTLASS: %w; fetch the submodule csrc/cutlass or name a checkout with --cutlass", cutlass, err)
	}
	python, err := Python()
	if err != nil {
		return err
	}
	final, err := FA3Dir()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(final), 0o777); err != nil {
		return err
	}
	out, err := os.MkdirTemp(filepath.Dir(final), ".fa3-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(out)
	if err := runBuild(ctx, python, source, cutlass, out, progress); err != nil {
		return err
	}
	if err := os.RemoveAll(final); err != nil {
		return err
	}
	return os.Rename(out, final)
}

// runBuild runs the build script.
func runBuild(ctx context.Context, python, source, cutlass, out string, progress func(string)) error {
	text, err := fs.ReadFile(script, "script/build_fa3.py")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, python, "-", source, cutlass, out)
	cmd.Stdin = strings.NewReader(string(text))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // its compilers, too
	said := &tail{}
	cmd.Stderr = said
	lines, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	for s := bufio.NewScanner(lines); s.Scan(); {
		progress(s.Text())
	}
	err = cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return errors.Join(errors.New("building FlashAttention-3"), &Died{Reason: err.Error(), Stderr: said.String(), Err: err})
	}
	return nil
}

// pythonPath returns the PYTHONPATH for a library: what BuildFA3 has built comes before what is
// installed.
func pythonPath(library string) string {
	path := os.Getenv("PYTHONPATH")
	if library != "fa3" {
		return path
	}
	dir, err := FA3Dir()
	if err != nil {
		return path
	}
	if _, err := os.Stat(filepath.Join(dir, "flash_attn_interface.py")); err != nil {
		return path
	}
	return strings.Trim(dir+string(os.PathListSeparator)+path, string(os.PathListSeparator))
}
