package peers

import "example.com/h2flow/flow"

// The promises of package flowtest that some clients do not keep.
const (
	unreadStops = "streams that nobody reads stop growing"
	noInflation = "slow and bursty readers do not inflate the window"
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
			return GRPCGo{o.conn("fixed"), o.conn("conn"), o.size("message"), o.flag("defects")}
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
		make:    func(o *options) flow.Config { return H2load{o.count("bits", 31)} },
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
	{
		name: "grpc-java", options: "window",
		summary: "grpc-java on Netty: PING when enough came, windows of twice that; 1 MiB to 8 MiB",
		make:    func(o *options) flow.Config { return GRPCJava{o.conn("window")} },
	},
	{
		name: "netty", options: "stream:conn:refill", summary: "Netty: 65,535, restored at half",
		make: func(o *options) flow.Config { return Netty{o.size("stream"), o.conn("conn"), o.flag("refill")} },
	},
	{
		name: "jetty", options: "simple", summary: "Jetty: 8 MiB and 16 MiB, back above half",
		make: func(o *options) flow.Config { return Jetty{o.flag("simple")} },
	},
	{
		name: "chromium", summary: "Chromium: 6 MiB and 15 MiB, back above half or after 5 s",
		make: func(*options) flow.Config { return Chromium{} },
	},
	{
		name: "firefox", summary: "Firefox: 12 MiB by WINDOW_UPDATE with each request, back at 4 MiB",
		make: func(*options) flow.Config { return Firefox{} },
	},
	{
		name: "okhttp", options: "defects", summary: "OkHttp: 16 MiB, back at half; connection credited on receipt",
		make: func(o *options) flow.Config { return OkHTTP{o.flag("defects")} },
	},
	{
		name: "dart", options: "stream:defects", summary: "Dart's package:http2: 65,535, two frames for each DATA frame",
		make: func(o *options) flow.Config { return Dart{o.size("stream"), o.flag("defects")} },
	},
	{
		name: "swift-nio", options: "stream:conn", summary: "swift-nio: 65,535, restored at half; connection credited on receipt",
		make: func(o *options) flow.Config { return SwiftNIO{o.size("stream"), o.conn("conn")} },
	},
	{
		name: "envoy", options: "old", summary: "Envoy: 16 MiB and 24 MiB, back at half",
		make: func(o *options) flow.Config { return Envoy{o.flag("old")} },
	},
	{
		name: "mod_http2", summary: "the tuner of Apache's mod_http2: 64 KiB more or 32 KiB less by the size of reads",
		make: func(*options) flow.Config { return ModHTTP2{} },
	},
	{
		name: "quic-go", summary: "quic-go's rule: 512 KiB to 6 MiB, doubled by the time a half takes",
		make: func(*options) flow.Config { return QUICGo{} },
	},
	{
		name: "quiche", options: "stream:conn:defects", summary: "quiche's rule: 16 KiB to 16 MiB, doubled by two updates within 2 RTT",
		make: func(o *options) flow.Config { return Quiche{o.size("stream"), o.conn("conn"), o.flag("defects")} },
	},
	{
		name: "neqo", options: "max", summary: "neqo's rule: 65,535 to 10 MiB, by four times the excess",
		make: func(o *options) flow.Config { return Neqo{o.conn("max")} },
	},
	{
		name: "linux", options: "rule:max", summary: "Linux's TCP receive tuning: twice what a round trip took and its growth; to 6 MiB",
		breaks: []string{noInflation},
		make:   func(o *options) flow.Config { return Linux{o.count("rule", linuxNewest), o.conn("max")} },
	},
}
