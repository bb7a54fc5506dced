package session

import "slices"

// SettledToolStatuses are the statuses of a tool call that are terminal, and the one
// place that says so (SC-9, HI-9). A status is any word a sender likes; no other one
// has a meaning, however much it looks like one of these.
var SettledToolStatuses = []string{"complete", "completed", "success", "error", "failed", "cancelled"}

// ToolSettled reports whether a tool call in status has ended, for good.
func ToolSettled(status string) bool { return slices.Contains(SettledToolStatuses, status) }
