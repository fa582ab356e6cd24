// Package plainfields is a field codec without compression: a subset of HPACK that any HPACK decoder reads.
//
// An [Encoder] writes every field line as a literal with a new name and without Huffman coding: "never indexed" for
// sensitive fields, "without indexing" for the others. A [Decoder] reads exactly that, and dynamic table size updates
// at the start of a block. Neither has a table, so blocks may be lost, reordered or made by hand, and the octets of a
// test can be read in a hex dump. They have the methods that package conn asks of a field codec:
//
//	var enc plainfields.Encoder
//	block := enc.AppendField(nil, frame.Field{Name: ":status", Value: "200"})
//
//	var dec plainfields.Decoder
//	err := dec.Decode(block, func(f frame.Field) bool { ...; return true })
//	if err == nil {
//		err = dec.EndBlock()
//	}
//
// # Invariants
//
// A block may be cut into fragments anywhere: the fields and the verdict are the same. A declared length allocates
// nothing; only octets that arrived are kept, and those only when a field line is cut between two fragments.
//
// # What it does not do
//
// It reads no indexed field, no indexed name, no Huffman string and no literal with incremental indexing; all are
// errors. Do not use it against a peer that was not told to encode like this.
//
// See RFC 7541, Sections 6.2.2, 6.2.3 and 6.3.
package plainfields
