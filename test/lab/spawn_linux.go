package lab

import "syscall"

// childAttributes put a program into a process group of its own, so that a Ctrl-C in the terminal reaches only the
// lab, which then stops its programs in order; and have the kernel kill it when the lab dies.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
