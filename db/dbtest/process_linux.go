package dbtest

import (
	"os/exec"
	"syscall"
)

// detach makes the process survive its parent and the signals of its terminal.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// tied makes a process, run as cred, end with the thread that starts it.
func tied(cred *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: cred, Pdeathsig: syscall.SIGQUIT}
}
