package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

const folderPrefix = "vpod-lab-"

// folder is a lab's data folder. It is locked while the lab lives; the kernel drops the lock of a lab that was killed,
// and that is how the next one knows which folders to remove.
type folder struct {
	path string
	lock *os.File
}

// newFolder removes the folders of dead labs and makes a locked one for this lab.
func newFolder() (*folder, error) {
	if err := sweep(os.TempDir()); err != nil {
		return nil, fmt.Errorf("removing folders of dead labs: %w", err)
	}
	for {
		path, err := os.MkdirTemp("", folderPrefix)
		if err != nil {
			return nil, fmt.Errorf("making the data folder: %w", err)
		}
		lock, err := lockFolder(path, syscall.LOCK_EX)
		if errors.Is(err, fs.ErrNotExist) {
			continue // Another lab's sweep took it for a dead one before the lock was on it.
		}
		if err != nil {
			return nil, fmt.Errorf("locking the data folder: %w", err)
		}
		return &folder{path: path, lock: lock}, nil
	}
}

// remove deletes the folder and drops its lock.
func (f *folder) remove() error {
	defer f.lock.Close()
	if err := os.RemoveAll(f.path); err != nil {
		return fmt.Errorf("removing the data folder: %w", err)
	}
	return nil
}

// sweep removes the data folders in dir whose lab is gone. Folders of other users are left to them.
func sweep(dir string) error {
	paths, err := filepath.Glob(filepath.Join(dir, folderPrefix+"*"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		lock, err := lockFolder(path, syscall.LOCK_EX|syscall.LOCK_NB)
		if err != nil {
			continue
		}
		err = (&folder{path: path, lock: lock}).remove()
		if err != nil {
			return err
		}
	}
	return nil
}

// lockFolder locks the folder and makes sure that it is still there then: who waits for a lock may get that of a
// folder that was deleted meanwhile. It fails with fs.ErrNotExist in that case.
func lockFolder(path string, how int) (*os.File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), how); err != nil {
		file.Close()
		return nil, err
	}
	if _, err := os.Stat(path); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}
