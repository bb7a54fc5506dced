package handlers

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"time"
)

// pacing is an answer whose connection, once it is taken over, gives a client that reads
// its time, and one that does not no more of it (EV-5).
type pacing struct {
	http.ResponseWriter

	timeout time.Duration
	over    func() error
	conn    net.Conn // once it is taken over
}

// Hijack implements http.Hijacker.
func (p *pacing) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(p.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, fmt.Errorf("take the connection over: %w", err)
	}
	p.conn = conn
	paced := pacedConn{conn, p.timeout, p.over}
	return paced, bufio.NewReadWriter(buffered.Reader, bufio.NewWriter(paced)), nil
}

// pacedConn writes in pieces, each of which has its own time, as a stream of SSE does.
type pacedConn struct {
	net.Conn

	timeout time.Duration
	over    func() error // why to stop in between (EV-6)
}

// Write implements net.Conn.
func (c pacedConn) Write(data []byte) (n int, err error) {
	for err == nil && n < len(data) {
		if err = c.over(); err != nil {
			break
		}
		if err = c.SetWriteDeadline(time.Now().Add(c.timeout)); err != nil {
			break
		}
		var wrote int
		wrote, err = c.Conn.Write(data[n:min(len(data), n+writePiece)])
		n += wrote
	}
	return n, err
}
