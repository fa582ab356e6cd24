package peers

import "example.com/h2flow/flow"

// The promises of package flowtest that some clients do not keep.
const (
	unreadStops  = "streams that nobody reads stop growing"
	noInflation  = "slow and bursty readers do not inflate the window"
	padsReturned = "padding is given back"
	noLeak       = "cancelled streams leak nothing and give nothing twice"
	wholeFrames  = "a server that sends only whole frames is never left waiting"
	mixesEnd     = "any mix of streams ends"
)

var rows = []row{
	{
		name: "nethttp", options: "stream:conn",
		summary: "Go's net/http and x/net: 4 MiB and 1 GiB, back each 4 KiB",
		make:    func(o *options) flow.Config { return NetHTTP{o.size("stream"), o.conn("conn")} },
	},
	{
		name: "grpc-go", options: "fixed:conn:message:defects",
		summary: "grpc-go: PING for each burst, windows of twice what came; 65,535 to 16 MiB",
		breaks:  []string{noInflation},
		make: func(o *options) flow.Config {
			return GRPCGo{o.conn("fixed"), o.conn("conn"), o.flag("message"), o.flag("defects")}
		},
	},
	{
		name: "hyper", options: "stream:conn",
		summary: "Rust's hyper: 2 MiB and 5 MiB, back at half of what the peer has left",
		make:    func(o *options) flow.Config { return Hyper{o.size("stream"), o.conn("conn")} },
	},
	{
		name:    "hyper-adaptive",
		summary: "hyper with adaptive window: PINGs with pauses, twice what was read; 65,535 to 16 MiB",
		breaks:  []string{noInflation},
		make:    func(*options) flow.Config { return HyperAdaptive{} },
	},
	{
		name: "dotnet", options: "defects",
		summary: ".NET: 65,535 to 16 MiB, doubled by the rate of each eighth; connection 64 MiB",
		make:    func(o *options) flow.Config { return DotNet{o.flag("defects")} },
	},
	{
		name: "nghttp2", options: "stream:conn",
		summary: "nghttp2 and nghttp: 65,535, credited on receipt, back at half",
		breaks:  []string{unreadStops},
		make:    func(o *options) flow.Config { return NGHTTP2{o.size("stream"), o.conn("conn")} },
	},
	{
		name: "h2load", options: "bits",
		summary: "h2load: nghttp2 with windows of 2^30-1",
		breaks:  []string{unreadStops},
		make:    func(o *options) flow.Config { return H2load{o.size("bits")} },
	},
	{
		name: "curl", options: "old",
		summary: "curl: 64 KiB, at the response's head 10 MiB; connection 1 GB, back at half",
		make:    func(o *options) flow.Config { return Curl{o.flag("old")} },
	},
	{
		name: "node", options: "stream:conn",
		summary: "Node.js: 65,535, back at half; connection credited on receipt",
		make:    func(o *options) flow.Config { return Node{o.size("stream"), o.conn("conn")} },
	},
	{
		name:    "undici",
		summary: "undici: Node.js with 256 KiB and 512 KiB",
		make:    func(*options) flow.Config { return Undici{} },
	},
	{
		name: "python-h2", options: "stream:conn",
		summary: "python-hyper h2: 65,535, back at half",
		make:    func(o *options) flow.Config { return PythonH2{o.size("stream"), o.conn("conn")} },
	},
	{
		name:    "httpx",
		summary: "httpx: python-h2 with 16 MiB more on both levels",
		make:    func(*options) flow.Config { return Httpx{} },
	},
}
