package handlers

import "time"

// Hasten makes what s waits for on its connections take as long as a test has time.
func (s *Sockets) Hasten(auth, write, heartbeat time.Duration) {
	s.times = socketTimes{auth, write, heartbeat}
}
