//go:build !linux

package dbtest

import (
	"os/exec"
	"syscall"
)

// detach makes the process survive its parent and the signals of its terminal.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// tied runs a process as cred. When its supervisor is killed, the next one ends it.
func tied(cred *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: cred}
}
