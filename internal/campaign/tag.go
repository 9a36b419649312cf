package campaign

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/GOATnote-Inc/attest/record"
)

// checkTag refuses a tag that could not be set, or that would not name what is judged,
// before anything is measured.
func (g *Gate) checkTag(ctx context.Context) error {
	switch {
	case g.Tag == "":
		return nil
	case git(ctx, "rev-parse", "HEAD") == "":
		return errors.New("--tag: the current folder is not in a git repository with a commit")
	case strings.HasPrefix(g.Tag, "-") || exec.CommandContext(ctx, "git", "check-ref-format", "refs/tags/"+g.Tag).Run() != nil:
		return fmt.Errorf("--tag %s is not a name that git accepts", g.Tag)
	case git(ctx, "rev-parse", "--verify", "--quiet", "refs/tags/"+g.Tag) != "":
		return fmt.Errorf("--tag %s exists already: choose another name, or delete it with git tag -d %[1]s", g.Tag)
	case git(ctx, "status", "--porcelain", "--untracked-files=no") != "":
		return errors.New("--tag: there are changes that are not committed, so the tag would not name what is judged: commit them first")
	}
	return nil
}

// setTag tags the current commit when every verdict is MERGE. It returns the line that says
// what was done, "" when no tag was asked for.
func (g *Gate) setTag(ctx context.Context, results []*GateResult) (string, error) {
	if g.Tag == "" {
		return "", nil
	}
	message := []string{"attest gate: MERGE", ""}
	for _, r := range results {
		if r.Verdict.Outcome != record.Merge {
			return fmt.Sprintf("not tagged: %s is %s, and a tag needs MERGE", r.Kernel.Name, r.Verdict.Outcome), nil
		}
		message = append(message, strings.TrimSpace(r.Kernel.Name+" "+r.Record))
	}
	out, err := exec.CommandContext(ctx, "git", "tag", "-a", g.Tag, "-m", strings.Join(message, "\n")).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("--tag %s: git: %s", g.Tag, strings.TrimSpace(string(out)))
	}
	return "tagged    " + g.Tag, nil
}
