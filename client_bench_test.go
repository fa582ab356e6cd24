package h2flow_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"example.com/h2flow"
	"example.com/h2flow/internal/httpbench"
)

func init() { httpbench.ServeIfAsked() }

// These measure the low-level API beside net/http; those of package h2http measure the Transport.

func BenchmarkGet(b *testing.B)         { httpbench.Get(b, openRaw) }
func BenchmarkParallelGet(b *testing.B) { httpbench.ParallelGet(b, openRaw) }
func BenchmarkDownload(b *testing.B)    { httpbench.Download(b, openRaw) }
func BenchmarkUpload(b *testing.B)      { httpbench.Upload(b, openRaw) }

// A rawClient does requests by the low-level API, over one connection.
type rawClient struct {
	conn      *h2flow.ClientConn
	authority string
}

var _ httpbench.Client = (*rawClient)(nil)

func openRaw(base string) (httpbench.Client, error) {
	authority := strings.TrimPrefix(base, "http://")
	conn, err := h2flow.DialCleartext(context.Background(), authority, nil)
	if err != nil {
		return nil, err
	}
	return &rawClient{conn, authority}, nil
}

func (c *rawClient) Close() { c.conn.Close() }

func (c *rawClient) Get(path string, buf []byte) (int64, error) {
	s, err := c.conn.OpenStream(context.Background(), &h2flow.Request{
		Method: "GET", Scheme: "http", Authority: c.authority, Path: path, EndStream: true,
	})
	if err != nil {
		return 0, err
	}
	defer s.Close()
	return finish(s, buf)
}

func (c *rawClient) Post(path string, size int64, buf []byte) error {
	s, err := c.conn.OpenStream(context.Background(), &h2flow.Request{
		Method: "POST", Scheme: "http", Authority: c.authority, Path: path,
		Header: []h2flow.Field{{Name: "content-length", Value: strconv.FormatInt(size, 10)}},
	})
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := s.ReadFrom(httpbench.Zeros(size)); err != nil && !errors.Is(err, h2flow.ErrWriteStopped) {
		return err
	}
	if err := s.CloseWrite(); err != nil {
		return err
	}
	_, err = finish(s, buf)
	return err
}

// finish reads the response.
func finish(s *h2flow.ClientStream, buf []byte) (int64, error) {
	head, err := s.ReadHead()
	if err != nil {
		return 0, err
	}
	if head.Status != 200 {
		return 0, fmt.Errorf("the server answered %d", head.Status)
	}
	return httpbench.Drain(s, buf)
}
