// Package h2flow is an HTTP/2 client engine whose flow control is a plug-in.
package h2flow
