// Package domain is the kernel that every capability shares: errors, limits, ids,
// the clock and rules of text. The capabilities live in its sub-packages, one
// each, and know nothing of HTTP or SQL.
package domain
