//go:build unix && !linux

package lab

import "syscall"

// childAttributes put a program into a process group of its own. Only Linux can end it when the lab is killed: here
// the programs of a lab that ended by SIGKILL must be ended by hand.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
