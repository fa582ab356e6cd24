// Package frame turns the octets of HTTP/2 frames into values and values into octets.
//
// A [Header] is the nine octets that every frame begins with. Each type of RFC 9113, Section 6, and of three
// extensions, has a struct of its own, such as [Data] and [Settings], with a parse function, such as [ParseData], and
// the methods of [Frame]. [Unknown] keeps any other frame whole. What is wrong with a frame is an [*Error]: the code,
// the scope and the reason.
//
// A connection takes frames apart in place, in three steps, none of which allocates unless it fails:
//
//	h, ok := frame.ParseHeader(buf)             // !ok: more octets are needed
//	err := frame.CheckHeader(h, maxFrameSize)   // what the nine octets alone decide
//	payload := buf[frame.HeaderLen:][:h.Length]
//	switch h.Type {
//	case frame.TypeWindowUpdate:
//		f, err := frame.ParseWindowUpdate(h, payload)
//		...
//	}
//
// and puts them together by appending to a buffer of its own:
//
//	buf = frame.AppendWindowUpdate(buf, stream, increment)
//	buf = frame.Headers{Stream: 1, EndHeaders: true, Fragment: block}.AppendTo(buf)
//
// [All] walks a buffer, [Reader] an io.Reader, and [Parse] boxes a frame of any type, for tests and logs.
//
// What holds:
//
//   - No slice is copied: slices in parsed values borrow the payload, slices in values to append are only read.
//   - Parse functions accept any header and any payload without a panic, and the error they return is always nil or
//     an *Error.
//   - A frame that parses without an error and is appended again gives the same octets, but for reserved bits,
//     undefined flags and the content of padding, which are ignored when read and zero when written.
//   - Whatever is told by a single frame is judged here. Appending judges nothing: it is how tests make bad frames.
//
// The package does not know which frame may follow which, the state of a stream, the size of a window, HPACK, or
// which of the two sides it serves (but for [Setting.CheckFromServer]).
package frame
