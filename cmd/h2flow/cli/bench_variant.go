package cli

import (
	"strings"

	"example.com/h2flow/cmd/h2flow/internal/load"
	"example.com/h2flow/flow"
)

// A variant is one of the things compared: a client with its options.
type variant struct {
	label   string // the client, and those of its options that others have otherwise
	client  string
	flow    flow.Config // nil: the client's default
	chunked bool

	readBuffer, writeBuffer, maxFrame int64 // 0: the client's default

	lanes int // on one connection each; 0: as the Spec says
}

// apply writes the variant into spec.
func (v variant) apply(spec *load.Spec) {
	spec.Client, spec.Chunked = v.client, v.chunked
	spec.ReadBuffer, spec.WriteBuffer, spec.MaxFrame = v.readBuffer, v.writeBuffer, v.maxFrame
	if v.lanes > 0 {
		spec.Conns, spec.Streams = 1, v.lanes
	}
	if v.flow != nil {
		spec.Strategy = v.flow.String()
	}
}

// spec is what all variants have in common.
func (o *benchOptions) spec() load.Spec {
	s := load.Spec{
		Op: o.op, Size: o.size, Requests: o.requests, Duration: o.duration, Conns: o.conns, Streams: o.streams,
		Warmup: o.warmup, BodyBuffer: o.bodyBuffer, Pace: o.pace / 8,
	}
	if o.op == load.Get && o.url != nil && !o.sizeGiven {
		s.Size = load.AnySize
	}
	return s
}

// variants are the clients with every combination of those options that concern them.
func (o *benchOptions) variants() []variant {
	var variants []variant
	for _, client := range o.clients {
		first := variant{client: client, chunked: o.chunked}
		if client == load.HTTP1 {
			first.lanes = o.http1Conns
		}
		of := []variant{first}
		if client == load.H2flow || client == load.H2flowRaw {
			of = vary(of, o.strategies, func(v *variant, s flow.Config) string { v.flow = s; return s.String() })
		}
		if client != load.NetH2 {
			of = vary(of, o.readBuffers, func(v *variant, n int64) string {
				v.readBuffer = n
				return "read-buffer=" + formatSize(n)
			})
			of = vary(of, o.writeBuffers, func(v *variant, n int64) string {
				v.writeBuffer = n
				return "write-buffer=" + formatSize(n)
			})
		}
		if client != load.HTTP1 {
			of = vary(of, o.maxFrames, func(v *variant, n int64) string {
				v.maxFrame = n
				return "max-frame-size=" + formatSize(n)
			})
		}
		for _, v := range of {
			v.label = strings.TrimSpace(client + v.label)
			variants = append(variants, v)
		}
	}
	return variants
}

// vary returns of with every value in turn. set puts a value into a variant and names it; the name is only needed
// where there are several values.
func vary[T any](of []variant, values []T, set func(*variant, T) string) []variant {
	if len(values) == 0 {
		return of
	}
	var varied []variant
	for _, v := range of {
		for _, value := range values {
			w := v
			if name := set(&w, value); len(values) > 1 {
				w.label += " " + name
			}
			varied = append(varied, w)
		}
	}
	return varied
}
