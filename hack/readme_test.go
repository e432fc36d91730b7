package hack

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// What README.md says there is must be there.
func TestReadmeNamesWhatExists(t *testing.T) {
	readme := read(t, "../README.md")
	makefile := read(t, "../Makefile")
	tests := testNames(t)

	for _, m := range regexp.MustCompile("(?m)^make ([a-z-]+)|`make ([a-z-]+)`").FindAllStringSubmatch(readme, -1) {
		if target := m[1] + m[2]; !regexp.MustCompile(`(?m)^` + target + `:`).MatchString(makefile) {
			t.Errorf("README.md names the make target %s, which does not exist", target)
		}
	}
	for _, m := range regexp.MustCompile(`\]\(([^):]+)\)`).FindAllStringSubmatch(readme, -1) {
		if _, err := os.Stat("../" + m[1]); err != nil {
			t.Errorf("README.md links to %s: %v", m[1], err)
		}
	}
	_, promises, found := strings.Cut(readme, "## What it promises")
	promises, _, _ = strings.Cut(promises, "\n## ")
	if !found {
		t.Fatal("README.md has no section about promises")
	}
	for _, m := range regexp.MustCompile(`(?m)^\| (G\d+) .* \| ([^|]*) \|$`).FindAllStringSubmatch(promises, -1) {
		for proof := range strings.SplitSeq(m[2], ",") {
			proof = strings.Trim(proof, " `")
			prefix := "Test" + proof + "_"
			if strings.HasPrefix(proof, "Test") {
				prefix = proof
			}
			if proof != "" && !strings.Contains(tests, "func "+prefix) {
				t.Errorf("README.md has %s proved by %s: no test is called %s...", m[1], proof, prefix)
			}
		}
	}
}

// testNames returns the lines in which tests are declared.
func testNames(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("grep", "-rhE", "^func Test", "..", "--include=*_test.go").Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
