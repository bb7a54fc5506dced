// Package handlers is the HTTP edge: it turns requests into calls of the domain
// and what the domain says into answers.
//
// server.go lists what a request passes through, in order. The statuses stand in
// problem.go, who may call what in auth.go and operations.go, and the contract is
// enforced by validate.go. Each resource has one file.
package handlers
