package frame

// A Field is one field line of a field section: a name, lower case on the wire, and a value. Pseudo-header fields
// have a name that begins with a colon. See RFC 9113, Section 8.2.
type Field struct {
	Name, Value string

	// Sensitive asks the encoder never to put the field into a compression table, and says on receipt that the peer
	// asked for the same. See RFC 7541, Section 7.1.3.
	Sensitive bool
}
