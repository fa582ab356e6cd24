package h2http

import (
	"compress/gzip"
	"sync"
)

// A gunzipBody undoes the compression that the Transport asked for. It takes the octets from the exchange and reads up
// to its io.EOF, so that the trailers are there as without compression.
type gunzipBody struct {
	x   *exchange
	zr  *gzip.Reader // the reader's own; nil before the first Read and after the last
	err error        // what every further Read gives
}

// gzipReaders keeps decompressors, which hold some 40 KiB each, for the next response.
var gzipReaders sync.Pool

func (b *gunzipBody) Read(p []byte) (int, error) {
	if b.x.closed.Load() {
		return 0, ErrBodyClosed
	}
	if b.err != nil {
		return 0, b.err
	}
	if b.zr == nil {
		if b.err = b.open(); b.err != nil {
			return 0, b.err
		}
	}
	n, err := b.zr.Read(p)
	if err != nil {
		b.err = err
		gzipReaders.Put(b.zr)
		b.zr = nil
	}
	return n, err
}

func (b *gunzipBody) open() error {
	zr, _ := gzipReaders.Get().(*gzip.Reader)
	if zr == nil {
		zr = new(gzip.Reader)
	}
	if err := zr.Reset(b.x); err != nil {
		return err
	}
	b.zr = zr
	return nil
}

func (b *gunzipBody) Close() error { return b.x.Close() }
