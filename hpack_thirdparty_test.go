package h2flow_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/h2flow"
	"example.com/h2flow/frame"
	"github.com/google/go-cmp/cmp"
)

// vectorFiles lists the files that match pattern below the directory of third-party vectors, which H2FLOW_VECTORS
// names; the test is skipped if it is not set, and fails if nothing matches.
func vectorFiles(t *testing.T, pattern string) []string {
	t.Helper()
	dir := os.Getenv("H2FLOW_VECTORS")
	if dir == "" {
		t.Skip("H2FLOW_VECTORS does not name a directory of third-party vectors")
	}
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no file matches %s below %s: %v", pattern, dir, err)
	}
	return files
}

func readJSON(t *testing.T, file string, v any) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// jsonFields are fields as a list of objects with one member each.
type jsonFields []map[string]string

func (j jsonFields) fields(sensitive bool) []frame.Field {
	fields := make([]frame.Field, 0, len(j))
	for _, m := range j {
		for name, value := range m {
			fields = append(fields, frame.Field{Name: name, Value: value, Sensitive: sensitive})
		}
	}
	return fields
}

// A story is a file of http2jp/hpack-test-case.
type story struct {
	Cases []struct {
		HeaderTableSize *uint32 `json:"header_table_size"`
		Wire            string
		Headers         jsonFields
	}
}

func withoutMarks(fields []frame.Field) []frame.Field {
	out := make([]frame.Field, len(fields))
	for i, f := range fields {
		out[i] = frame.Field{Name: f.Name, Value: f.Value} // the stories do not tell which were never indexed
	}
	return out
}

func TestStoriesDecode(t *testing.T) {
	folders := []string{
		"go-hpack", "haskell-http2-linear-huffman", "nghttp2", "nghttp2-16384-4096", "nghttp2-change-table-size",
		"python-hpack", "swift-nio-hpack-plain-text",
	}
	for _, folder := range folders {
		t.Run(folder, func(t *testing.T) {
			files := vectorFiles(t, "hpack-test-case/"+folder+"/*.json")
			blocks, octets := 0, 0
			for i, file := range files {
				var s story
				readJSON(t, file, &s)
				chunk := math.MaxInt
				if i%4 == 0 { // one octet at a time is slow: every fourth story suffices
					chunk = 1
				}
				d := h2flow.NewFieldDecoder()
				for seq, c := range s.Cases {
					if c.HeaderTableSize != nil {
						d.SetMaxTableSize(*c.HeaderTableSize)
					}
					block := unhex(t, c.Wire)
					got, err := decodeBlock(d, block, chunk)
					if err != nil {
						t.Fatalf("%s: case %d: %v", file, seq, err)
					}
					if diff := cmp.Diff(c.Headers.fields(false), withoutMarks(got)); diff != "" {
						t.Fatalf("%s: case %d (-want +got)\n%s", file, seq, diff)
					}
					blocks++
					octets += len(block)
				}
			}
			t.Logf("%d stories, %d blocks, %d octets", len(files), blocks, octets)
		})
	}
}

func TestStoriesRoundTrip(t *testing.T) {
	files := vectorFiles(t, "hpack-test-case/raw-data/*.json")
	blocks, raw, octets := 0, 0, 0
	for _, file := range files {
		var s story
		readJSON(t, file, &s)
		e, d := h2flow.NewFieldEncoder(4096), h2flow.NewFieldDecoder()
		for seq, c := range s.Cases {
			want := c.Headers.fields(false)
			block := encodeBlock(e, want)
			got, err := decodeBlock(d, block, 1000)
			if err != nil {
				t.Fatalf("%s: case %d: %v", file, seq, err)
			}
			if !cmp.Equal(want, got) {
				t.Fatalf("%s: case %d (-want +got)\n%s", file, seq, cmp.Diff(want, got))
			}
			blocks++
			octets += len(block)
			for _, f := range want {
				raw += len(f.Name) + len(f.Value)
			}
		}
	}
	t.Logf("%d stories, %d blocks, %d octets of fields in %d octets of blocks", len(files), blocks, raw, octets)
}

func TestNettyVectors(t *testing.T) {
	files := vectorFiles(t, "netty-hpack/json/*.json")
	blocks := 0
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			var c struct {
				MaxHeaderTableSize *uint32 `json:"max_header_table_size"`
				SensitiveHeaders   bool    `json:"sensitive_headers"`
				HeaderBlocks       []struct {
					Headers jsonFields
					Encoded []string
					Table   jsonFields `json:"dynamic_table"`
				} `json:"header_blocks"`
			}
			readJSON(t, file, &c)
			v := vector{size: 4096}
			if c.MaxHeaderTableSize != nil {
				v.size = *c.MaxHeaderTableSize
			}
			for _, b := range c.HeaderBlocks {
				v.blocks = append(v.blocks, vectorBlock{
					wire:   strings.Join(b.Encoded, ""),
					fields: b.Headers.fields(c.SensitiveHeaders),
					table:  b.Table.fields(false),
				})
			}
			blocks += len(v.blocks)
			decodeVector(t, v, math.MaxInt)
			decodeVector(t, v, 1)
			truncateVector(t, v)
		})
	}
	t.Logf("%d files, %d blocks", len(files), blocks)
}
