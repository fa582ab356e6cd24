package cli

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/h2flow"
	"example.com/h2flow/frame"
)

// frames calls the verb with in as standard input.
func frames(t *testing.T, in []byte, args ...string) session {
	t.Helper()
	var stdout, stderr lockedBuffer
	e := &env{stdout: &stdout, stderr: &stderr, stdin: bytes.NewReader(in)}
	status := run(t.Context(), e, append([]string{"frames"}, args...))
	return session{status, stdout.String(), stderr.String()}
}

// fieldBlock encodes fields with an encoder of one connection.
func fieldBlock(enc *h2flow.FieldEncoder, pairs ...string) []byte {
	var block []byte
	for i := 0; i < len(pairs); i += 2 {
		block = enc.AppendField(block, frame.Field{Name: pairs[i], Value: pairs[i+1]})
	}
	return block
}

// clientOctets are what a client sends: the preface, a request whose head is in two frames, and one that refers to it.
func clientOctets() []byte {
	enc := h2flow.NewFieldEncoder(4096)
	first := fieldBlock(enc, ":method", "GET", "x-long", "a value to refer to", "cookie", "secret")
	second := fieldBlock(enc, ":method", "GET", "x-long", "a value to refer to")
	out := []byte(frame.ClientPreface)
	out = frame.MakeSettings(frame.Setting{ID: frame.SettingEnablePush, Value: 0}).AppendTo(out)
	out = frame.Headers{Stream: 1, EndStream: true, Fragment: first[:3]}.AppendTo(out)
	out = frame.Continuation{Stream: 1, EndHeaders: true, Fragment: first[3:]}.AppendTo(out)
	return frame.Headers{Stream: 3, EndStream: true, EndHeaders: true, Fragment: second}.AppendTo(out)
}

func serverOctets() []byte {
	enc := h2flow.NewFieldEncoder(4096)
	out := frame.MakeSettings().AppendTo(nil)
	out = frame.Headers{Stream: 1, EndHeaders: true, Fragment: fieldBlock(enc, ":status", "200")}.AppendTo(out)
	return frame.Data{Stream: 1, EndStream: true, Data: []byte("body")}.AppendTo(out)
}

func TestFramesOfOctetsAndHex(t *testing.T) {
	octets := clientOctets()
	var dump strings.Builder
	dump.WriteString("# a client's preface\n")
	for i := 0; i < len(octets); i += 16 {
		for _, b := range octets[i:min(i+16, len(octets))] {
			dump.WriteString(hex.EncodeToString([]byte{b}) + " ")
		}
		dump.WriteString("\n")
	}
	file := filepath.Join(t.TempDir(), "octets")
	if err := os.WriteFile(file, octets, 0o600); err != nil {
		t.Fatal(err)
	}
	first, second := frame.HeaderLen+3, 0
	for h := range frame.All(octets[24+15+first:]) {
		second = frame.HeaderLen + int(h.Length)
		break
	}
	want := strings.Join([]string{
		"      24  SETTINGS ENABLE_PUSH=0",
		"      39  HEADERS stream=1 len=3 END_STREAM",
		"      51  CONTINUATION stream=1 len=" + itoa(second-9) + ` END_HEADERS ":method: GET" "x-long: a value to refer to" "cookie: (hidden)"`,
		pad(51+second) + `  HEADERS stream=3 len=2 END_STREAM END_HEADERS ":method: GET" "x-long: a value to refer to"`,
	}, "\n") + "\n"
	for name, s := range map[string]session{
		"octets": frames(t, octets), "hex": frames(t, []byte(dump.String()), "-"), "a file": frames(t, nil, file),
	} {
		if s.status != 0 || s.stderr != "" {
			t.Errorf("%s: status %d, %q", name, s.status, s.stderr)
		}
		if diff := cmp.Diff(want, s.stdout); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if s := frames(t, octets, "--secrets"); !strings.Contains(s.stdout, "cookie: secret") {
		t.Error("--secrets hides them")
	}
}

func itoa(n int) string { return strings.TrimSpace(pad(n)) }

func pad(n int) string {
	text := []byte("        ")
	for i := len(text) - 1; i >= 0 && n > 0; i-- {
		text[i] = byte('0' + n%10)
		n /= 10
	}
	return string(text)
}

func TestFramesThatAreWrong(t *testing.T) {
	bad := frame.WindowUpdate{Stream: 1}.AppendTo(frame.Unknown{Header: frame.Header{Type: frame.TypePing, Length: 3},
		Payload: []byte("abc")}.AppendTo(nil))
	bad = frame.Headers{Stream: 1, EndHeaders: true, Fragment: []byte{0xff, 0xff, 0xff}}.AppendTo(bad)
	bad = frame.Headers{Stream: 3, EndHeaders: true, Fragment: []byte{0x88}}.AppendTo(bad)
	s := frames(t, bad)
	lines := strings.Split(strings.TrimSpace(s.stdout), "\n")
	if s.status != 0 || len(lines) != 4 {
		t.Fatalf("status %d, %q", s.status, s.stdout)
	}
	for i, want := range []string{"PING", "WINDOW_UPDATE", "cannot be decoded", "HEADERS stream=3"} {
		if !strings.Contains(lines[i], want) || strings.Contains(lines[i], "!") != (i < 2) {
			t.Errorf("line %d is %q, want %s", i, lines[i], want)
		}
	}
	frames(t, bad[:len(bad)-1], "--json").wantPartial(t, "standard input ends within a frame: 9 octets are left")
	call(t.Context(), nil, "frames", filepath.Join(t.TempDir(), "none")).wantFailure(t, 1, "no such file")
}

// wantPartial checks that the session failed after it had printed something.
func (s session) wantPartial(t *testing.T, want string) {
	t.Helper()
	if s.status != exitFailed || s.stdout == "" || !strings.Contains(s.stderr, want) {
		t.Errorf("status %d, %q; want 1 and %q", s.status, s.stderr, want)
	}
}

// A recording makes a capture: Ethernet, IPv4 or IPv6, TCP.
type recording struct {
	packets [][]byte
	six     bool
}

func (r *recording) tcp(client bool, seq uint32, flags byte, data []byte) {
	ports := [2]uint16{50000, 80}
	if !client {
		ports = [2]uint16{80, 50000}
	}
	t := binary.BigEndian.AppendUint16(nil, ports[0])
	t = binary.BigEndian.AppendUint16(t, ports[1])
	t = binary.BigEndian.AppendUint32(t, seq)
	t = append(t, 0, 0, 0, 0, 5<<4, flags, 0xff, 0xff, 0, 0, 0, 0)
	t = append(t, data...)
	addresses := [2]byte{1, 2}
	if !client {
		addresses = [2]byte{2, 1}
	}
	var ip []byte
	if r.six {
		ip = append([]byte{0x60, 0, 0, 0, byte(len(t) >> 8), byte(len(t)), 6, 64}, make([]byte, 32)...)
		ip[23], ip[39] = addresses[0], addresses[1]
	} else {
		n := 20 + len(t)
		ip = []byte{0x45, 0, byte(n >> 8), byte(n), 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, addresses[0], 10, 0, 0, addresses[1]}
	}
	kind := []byte{8, 0}
	if r.six {
		kind = []byte{0x86, 0xdd}
	}
	p := append(make([]byte, 12), kind...)
	r.packets = append(r.packets, append(append(p, ip...), t...))
}

// conversation is a connection with a segment that comes twice and two in the wrong order.
func (r *recording) conversation() {
	up, down := clientOctets(), serverOctets()
	r.tcp(true, 1000, 2, nil) // SYN
	r.tcp(false, 7, 2, nil)
	r.tcp(true, 1001, 0, up[:30])
	r.tcp(true, 1001, 0, up[:30])
	r.tcp(true, 1001+50, 0, up[50:])
	r.tcp(true, 1001+30, 0, up[30:50])
	r.tcp(false, 8, 0, down)
}

func (r *recording) pcap(order binary.AppendByteOrder) []byte {
	out := order.AppendUint32(nil, magicMicro)
	out = append(out, make([]byte, 16)...)
	out = order.AppendUint32(out, linkEthernet)
	for i, p := range r.packets {
		out = order.AppendUint32(out, 100)
		out = order.AppendUint32(out, uint32(i)*1000)
		out = order.AppendUint32(out, uint32(len(p)))
		out = order.AppendUint32(out, uint32(len(p)))
		out = append(out, p...)
	}
	return out
}

func (r *recording) pcapNG() []byte {
	order := binary.LittleEndian
	var out []byte
	block := func(kind uint32, body []byte) {
		for len(body)%4 != 0 {
			body = append(body, 0)
		}
		out = order.AppendUint32(order.AppendUint32(out, kind), uint32(len(body)+12))
		out = order.AppendUint32(append(out, body...), uint32(len(body)+12))
	}
	block(magicNG, append(order.AppendUint32(nil, 0x1a2b3c4d), make([]byte, 12)...))
	block(1, []byte{linkEthernet, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0}) // nanoseconds
	for i, p := range r.packets {
		ns := uint64(100e9) + uint64(i)*1e6
		body := order.AppendUint32(nil, 0)
		body = order.AppendUint32(order.AppendUint32(body, uint32(ns>>32)), uint32(ns))
		body = order.AppendUint32(order.AppendUint32(body, uint32(len(p))), uint32(len(p)))
		block(6, append(body, p...))
	}
	return out
}

func TestFramesOfCaptures(t *testing.T) {
	var four, six recording
	six.six = true
	four.conversation()
	six.conversation()
	for name, in := range map[string][]byte{
		"pcap": four.pcap(binary.LittleEndian), "pcap of the other order, IPv6": six.pcap(binary.BigEndian),
		"pcapng": four.pcapNG(),
	} {
		t.Run(name, func(t *testing.T) {
			s := frames(t, in, "--json")
			if s.status != 0 || s.stderr != "" {
				t.Errorf("status %d, %q", s.status, s.stderr)
			}
			var got []string
			for line := range strings.Lines(s.stdout) {
				var l frameLine
				if err := json.Unmarshal([]byte(line), &l); err != nil {
					t.Fatal(err)
				}
				if l.Connection != 1 || l.Time == nil {
					t.Errorf("%+v", l)
				}
				text := l.Direction + " " + l.Type
				for _, f := range l.Fields {
					text += " " + f[0]
				}
				got = append(got, text)
			}
			want := []string{"client SETTINGS", "client HEADERS", "client CONTINUATION :method x-long cookie",
				"client HEADERS :method x-long", "server SETTINGS", "server HEADERS :status", "server DATA"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if s := frames(t, in); !strings.Contains(s.stdout, "+0.006000s 1 <        0  SETTINGS") {
				t.Errorf("as text:\n%s", s.stdout)
			}
		})
	}
}

func TestFramesOfDamagedCaptures(t *testing.T) {
	var r recording
	r.conversation()
	whole, ng := r.pcap(binary.LittleEndian), r.pcapNG()
	for n := range whole { // cut anywhere, it is shown as far as it goes
		frames(t, whole[:n])
	}
	for n := range ng {
		frames(t, ng[:n])
	}
	for i := range ng { // and any octet may be wrong
		bad := bytes.Clone(ng)
		bad[i] ^= 0xff
		frames(t, bad)
	}
	other := r.pcap(binary.LittleEndian)
	other[20] = 105 // a link layer of radios
	frames(t, other).wantFailure(t, 1, "link type 105")
	var empty recording
	frames(t, empty.pcap(binary.LittleEndian)).wantFailure(t, 1, "encrypted")
}
