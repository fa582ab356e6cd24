package peers

import "example.com/h2flow/flow"

// Undici is undici (7eb7c8ec), the HTTP client of Node.js, on Node's http2 with larger windows.
type Undici struct{}

const (
	undiciStream = 262144
	undiciConn   = 524288
)

var _ flow.Config = Undici{}

// New makes the strategy of one connection.
func (Undici) New() flow.Strategy { return Node{Stream: undiciStream, Conn: undiciConn}.New() }

// String describes the model so that Parse reads it back.
func (Undici) String() string { return describe("undici") }
