package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Our own programs, which the Makefile builds; all others come from hack/tools.
const (
	schedulerProgram  = "vpod-scheduler"
	controllerProgram = "vpod-controller"
)

// findRoot finds the folder of this module: from the working directory upwards, which is inside it for tests, else
// from where this program lies upwards, which is bin for the command.
func findRoot() (string, error) {
	var starts []string
	if dir, err := os.Getwd(); err == nil {
		starts = append(starts, dir)
	}
	if exe, err := os.Executable(); err == nil {
		starts = append(starts, filepath.Dir(exe))
	}
	for _, dir := range starts {
		for ; ; dir = filepath.Dir(dir) {
			if _, err := os.Stat(filepath.Join(dir, "hack", "tools", "build.sh")); err == nil {
				return dir, nil
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return "", errors.New("finding the lab's programs: neither the working directory nor this program lies in a " +
		"checkout of vpod-scheduler")
}

// program is the path of a program in bin, or an error that says how to build it.
func (l *Lab) program(name string) (string, error) {
	path := filepath.Join(l.bin, name)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		how := "hack/tools/build.sh " + name
		if name == schedulerProgram || name == controllerProgram {
			how = "make build"
		}
		return "", fmt.Errorf("%s is not built: run '%s' in %s", path, how, l.root)
	}
	return path, nil
}
