// Package prompt admits prompts and hands them to agents, so that every plan
// comment reaches an agent at most once and no accepted prompt is lost before, or
// sent twice past, the delivery boundary.
//
// # Admission
//
// An admission is one transaction. It stores the prompt with its durable receipt,
// a [Delivery], and consumes exactly the plan comments the prompt names (AD-2); a
// refused one leaves no trace (AD-3). The client's id is remembered for as long as
// the task lives, so that a retry is answered with what it did the first time
// (AD-7). Both transports share the operation: [Service.AdmitPrompt] is the
// direct one, [Service.AdmitQueued] the queued one.
//
// A prompt may carry attachments. They are staged before it, and the transaction of
// the one admission that gets them makes them its delivery's; what nobody claims
// expires by the database's clock (AD-10). [Service.Run] sends one comment to the
// primary session, on the transport that serves it soonest (AD-9).
//
// Where a [Hook] is configured, a direct prompt asks it before the transaction: replay,
// task admission lease, replay again, preflight on a scene without locks, hook, and
// then the transaction, which judges everything once more.
//
// # Queue
//
// What a session is owed is its [Queue]. People change what waits in it: they edit,
// remove, reorder and append. They change pending queued prompts only, and nothing
// of what they do brings a comment back or makes an admission forgotten (DL-5).
//
// # Delivery
//
// A runner reserves the head of a session's deliveries, which gives it a token and
// a lease; says that it attempts the delivery, immediately before it speaks to the
// agent; and acknowledges what became of it. The attempt is the boundary: before
// it a delivery may be tried again, by anybody; past it never (DL-2).
//
//	state            next                                                              by
//	pending          reserved                                                          reserve
//	                 cancelled                                                         a person
//	                 discarded                                                         reset or deletion of the session
//	                 combined                                                          send now
//	                 outcome_unknown                                                   first start on a restored backup
//	reserved         attempted                                                         attempt
//	                 pending                                                           release, expiry
//	                 discarded                                                         reset or deletion; release of a combination
//	                 outcome_unknown                                                   restored backup
//	attempted        acknowledged, outcome_unknown                                     acknowledge; recovery, reset
//	outcome_unknown  acknowledged, requeued                                            late acknowledge, resolve
//	combined         attempted, acknowledged, outcome_unknown, discarded, pending      follows its combination
//
// Acknowledged, cancelled, discarded and requeued are final.
//
// A reservation is held by a token, of which only a hash is stored, until its lease
// expires by the database's clock. Nobody has to notice the expiry: a live lease
// blocks every other process, and the next reserve after it gives a new token,
// whereupon every call with the old one fails closed (DL-1). The hash stays with an
// attempted delivery, so that whoever attempted it can settle it, however late. Who
// holds a live reservation can renew its lease.
//
// A reserve may wait for something to hand out ([Service.Await], DL-13). While it
// does it holds no connection and no lock: it is woken by the news of its task, looks
// by itself now and then, and reserves when what it looked at has changed.
//
// Recovery ([Service.Recover], DL-3) puts back what was reserved and not attempted in
// time, for those who list the queue and wait for it, and gives up what was attempted
// and never acknowledged, so that a person is asked.
//
// # Combinations
//
// [Service.SendNow] makes one delivery of several pending ones, its sources, before
// everything else (DL-8). It alone is handed out and has a token. Its sources are
// owed with it and keep their places; every step that moves it moves them in the same
// transaction, see updateWhole. A release dissolves it: the sources are pending again
// where they were. An expiry does not.
//
// # Locks
//
// Every transaction locks the task row first, then the session row, then plan and
// comments, deliveries, attachments, turns, and messages. The task admission lease,
// which is no row lock, is taken before all of them.
package prompt
