package lab

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// The range lies below the ephemeral ports of Linux (from 32768) and macOS (from 49152): no outgoing connection can
// take the port of a server that is about to start, or that restarts.
const (
	firstPort = 12000
	portCount = 20000
)

// freePort finds a loopback port that nobody listens on. It is not reserved: two labs that start at the same moment
// are kept apart by chance alone, one in twenty thousand.
func freePort() (int, error) {
	const attempts = 100
	for range attempts {
		port := firstPort + rand.IntN(portCount)
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			return 0, fmt.Errorf("releasing port %d: %w", port, err)
		}
		return port, nil
	}
	return 0, fmt.Errorf("finding a free port: %d attempts failed", attempts)
}
