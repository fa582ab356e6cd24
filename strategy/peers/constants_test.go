package peers

import (
	"testing"
	"time"
)

// Every constant is the one that was read in the source of its client.
func TestConstants(t *testing.T) {
	octets := []struct {
		name      string
		got, want int64
	}{
		{"net/http stream", netHTTPStream, 4194304},
		{"net/http connection", netHTTPConn, 1073807359},
		{"net/http least refresh", netHTTPMinRefresh, 4096},
		{"grpc-go window", grpcGoWindow, 65535},
		{"grpc-go limit", grpcGoLimit, 16777216},
		{"grpc-go samples that are averaged", grpcGoSamples, 10},
		{"grpc-go growth", grpcGoGamma, 2},
		{"hyper stream", hyperStream, 2097152},
		{"hyper connection", hyperConn, 5242880},
		{"hyper adaptive window", hyperAdaptiveWindow, 65535},
		{"hyper adaptive limit", hyperAdaptiveLimit, 16777216},
		{".NET stream", dotNetStream, 65535},
		{".NET most", dotNetMax, 16777216},
		{".NET connection", dotNetConn, 67108864},
		{".NET ratio", dotNetRatio, 8},
		{".NET burst of PINGs", dotNetBurst, 4},
		{"h2load bits", h2loadBits, 30},
		{"curl stream", curlStream, 65536},
		{"curl stream after the head", curlOpened, 10485760},
		{"curl connection", curlConn, 1048576000},
		{"curl 7.88", curlOld, 33554432},
		{"undici stream", undiciStream, 262144},
		{"undici connection", undiciConn, 524288},
		{"python-h2 least", pythonH2Least, 1024},
		{"httpx increment", httpxMore, 16777216},
		{"grpc-java window", grpcJavaWindow, 1048576},
		{"grpc-java limit", grpcJavaLimit, 8388608},
		{"grpc-java PINGs in a row", grpcJavaPings, 2},
		{"grpc-java longest wait", grpcJavaMostWait, 10},
		{"Jetty stream", jettyStream, 8388608},
		{"Jetty connection", jettyConn, 16777216},
		{"Chromium stream", chromiumStream, 6291456},
		{"Chromium connection", chromiumConn, 15728640},
		{"Firefox initial window", firefoxInitial, 131072},
		{"Firefox window", firefoxWindow, 12582912},
		{"Firefox least to acknowledge", firefoxAck, 4194304},
		{"Firefox emergency", firefoxEmergency, 98304},
		{"OkHttp window", okHTTPWindow, 16777216},
		{"Envoy stream", envoyStream, 16777216},
		{"Envoy connection", envoyConn, 25165824},
		{"Envoy before 1.36", envoyOld, 268435456},
		{"mod_http2 start", modHTTP2Start, 65535},
		{"mod_http2 connection", modHTTP2Conn, 2147483647},
		{"mod_http2 most", modHTTP2Max, 2097152},
		{"mod_http2 least", modHTTP2Min, 32768},
		{"mod_http2 growth", modHTTP2Grow, 65536},
		{"mod_http2 shrinking", modHTTP2Shrink, 32768},
		{"quic-go stream", quicGoStream, 524288},
		{"quic-go connection", quicGoConn, 786432},
		{"quic-go most of a stream", quicGoMaxStream, 6291456},
		{"quic-go most of a connection", quicGoMaxConn, 15728640},
		{"quic-go round trips", quicGoRTTs, 4},
		{"quiche stream", quicheStream, 16384},
		{"quiche most of a stream", quicheMaxStream, 16777216},
		{"quiche most of a connection", quicheMaxConn, 25165824},
		{"quiche round trips", quicheRTTs, 2},
		{"neqo factor", neqoFactor, 4},
		{"neqo window, assumed", neqoWindow, 65535},
		{"neqo most, assumed", neqoMax, 10485760},
		{"Linux most", linuxMax, 6291456},
		{"Linux space before the first round trip", linuxSpace, 14600},
	}
	for _, tt := range octets {
		if tt.got != tt.want {
			t.Errorf("%s: want %d, got %d", tt.name, tt.want, tt.got)
		}
	}
	times := []struct {
		name      string
		got, want time.Duration
	}{
		{"hyper adaptive delay", hyperAdaptiveDelay, 100 * time.Millisecond},
		{"hyper adaptive slowest", hyperAdaptiveSlow, 10 * time.Second},
		{".NET interval of PINGs", dotNetInterval, 2 * time.Second},
		{"Chromium wait", chromiumWait, 5 * time.Second},
		{"mod_http2 soon", modHTTP2Soon, 40 * time.Millisecond},
		{"mod_http2 late", modHTTP2Late, 700 * time.Millisecond},
	}
	for _, tt := range times {
		if tt.got != tt.want {
			t.Errorf("%s: want %s, got %s", tt.name, tt.want, tt.got)
		}
	}
	factors := []struct {
		name      string
		got, want float64
	}{
		{"grpc-go beta", grpcGoBeta, 0.66},
		{"grpc-go alpha", grpcGoAlpha, 0.9},
		{"grpc-go factor of the round trip", grpcGoRTTFactor, 1.5},
		{"Netty ratio", nettyRatio, 0.5},
	}
	for _, tt := range factors {
		if tt.got != tt.want {
			t.Errorf("%s: want %v, got %v", tt.name, tt.want, tt.got)
		}
	}
}

// The window of Linux after a round trip that took half as much again as the one before.
func TestLinuxRules(t *testing.T) {
	tests := []struct{ kernel, c, p, want int64 }{
		{1, 300_000, 200_000, 1_246_720},
		{1, 260_000, 200_000, 815_040},
		{1, 220_000, 200_000, 463_360},
		{2, 300_000, 200_000, 1_246_720},
		{3, 300_000, 200_000, 600_000},
		{4, 300_000, 200_000, 1_200_000},
		{4, 200_000, 100_000, 1_200_000},
	}
	for _, tt := range tests {
		if got := linuxWindow(tt.kernel, tt.c, tt.p); got != tt.want {
			t.Errorf("rule %d, %d octets after %d: want %d, got %d", tt.kernel, tt.c, tt.p, tt.want, got)
		}
	}
}
