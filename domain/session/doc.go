// Package session keeps the agent conversations of a task and their turns, and says
// what a message of a transcript is.
//
// # States of a session
//
//	state               next                          by
//	active              another active one            a runner
//	                    running                       a turn starts, or a delivery is attempted
//	                    completed, failed, cancelled  a runner; turns and runs end with it (HI-10)
//	                    created                       a reset, with another incarnation (DL-9)
//	running             waiting_for_input             its last running turn ends
//
// Active are created, starting, running, idle and waiting_for_input; of them created,
// idle and waiting_for_input take a direct prompt.
//
// Completed, failed and cancelled are final: another state is an [UnavailableError].
// Package lifecycle carries out what ends, resets or deletes a session, because more
// than this package hangs on it.
//
// # States of a turn
//
// A turn is running until it is completed, failed or cancelled, for good. Of the turns
// of a session several may run; the end of the last one lets the session wait. One that
// runs may be marked InterruptRequested, once: its runner should end it (DL-8).
package session
