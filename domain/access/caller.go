// Package access knows who may call: workspaces, and the tokens that belong to them.
//
// A token opens one workspace, at one of three levels. What lies in another
// workspace is answered as if it did not exist (API-22).
package access

import "slices"

// Scope is a level of access. Each includes the ones before it (API-20).
type Scope string

// The scopes, from the least to the greatest.
const (
	ScopeUser   Scope = "user"   // a person's front end
	ScopeRunner Scope = "runner" // a runner of agents
	ScopeAdmin  Scope = "admin"  // an operator, in every workspace
)

// Scopes lists the scopes, from the least to the greatest.
var Scopes = []Scope{ScopeUser, ScopeRunner, ScopeAdmin}

// Includes reports whether s is at least minimum. An unknown scope includes nothing.
func (s Scope) Includes(minimum Scope) bool {
	have, want := slices.Index(Scopes, s), slices.Index(Scopes, minimum)
	return want >= 0 && have >= want
}

// Caller is who sent a request.
type Caller struct {
	TokenID     string // "" where authentication is off
	WorkspaceID string // of the token
	Scope       Scope
}

// Sees reports whether what belongs to a workspace exists for c.
func (c Caller) Sees(workspaceID string) bool {
	return c.Scope == ScopeAdmin || c.WorkspaceID == workspaceID
}
