package cli

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"example.com/h2flow"
	"example.com/h2flow/frame"
)

// The first four octets of captures. See the descriptions of the formats pcap and pcapng.
const (
	magicMicro = 0xa1b2c3d4
	magicNano  = 0xa1b23c4d
	magicNG    = 0x0a0d0d0a
)

func isCapture(in []byte) bool {
	if len(in) < 24 {
		return false
	}
	little, big := binary.LittleEndian.Uint32(in), binary.BigEndian.Uint32(in)
	for _, m := range []uint32{magicMicro, magicNano, magicNG} {
		if little == m || big == m {
			return true
		}
	}
	return false
}

// A packet is one packet of a capture.
type packet struct {
	at   time.Duration // since the epoch
	link uint32        // the type of the link layer
	data []byte
}

var errBadCapture = errors.New("the capture is damaged")

// readPackets takes a capture apart.
func readPackets(in []byte) ([]packet, error) {
	if binary.BigEndian.Uint32(in) == magicNG {
		return readPcapNG(in)
	}
	var order binary.ByteOrder = binary.LittleEndian
	if m := binary.BigEndian.Uint32(in); m == magicMicro || m == magicNano {
		order = binary.BigEndian
	}
	unit := time.Microsecond
	if order.Uint32(in) == magicNano {
		unit = time.Nanosecond
	}
	link := order.Uint32(in[20:]) & 0xffff
	var list []packet
	for in = in[24:]; len(in) >= 16; {
		n := order.Uint32(in[8:])
		if uint64(n) > uint64(len(in)-16) {
			return list, nil // cut where the recording was stopped
		}
		at := time.Duration(order.Uint32(in))*time.Second + time.Duration(order.Uint32(in[4:]))*unit
		list = append(list, packet{at: at, link: link, data: in[16 : 16+n]})
		in = in[16+n:]
	}
	return list, nil
}

// readPcapNG reads the blocks that describe interfaces and those that hold packets.
func readPcapNG(in []byte) ([]packet, error) {
	type iface struct {
		link uint32
		unit time.Duration
	}
	var (
		list   []packet
		ifaces []iface
		order  binary.ByteOrder = binary.LittleEndian
	)
	for len(in) >= 12 {
		if binary.BigEndian.Uint32(in) == magicNG {
			order, ifaces = binary.LittleEndian, nil
			if binary.BigEndian.Uint32(in[8:]) == 0x1a2b3c4d {
				order = binary.BigEndian
			}
		}
		kind, n := order.Uint32(in), order.Uint32(in[4:])
		if n < 12 || n%4 != 0 {
			return nil, errBadCapture
		}
		if uint64(n) > uint64(len(in)) {
			return list, nil
		}
		body := in[8 : n-4]
		switch {
		case kind == 1 && len(body) >= 8: // interface description
			ifaces = append(ifaces, iface{uint32(order.Uint16(body)), timeUnit(order, body[8:])})
		case kind == 6 && len(body) >= 20: // enhanced packet
			i, size := order.Uint32(body), order.Uint32(body[12:])
			if uint64(i) >= uint64(len(ifaces)) || uint64(size) > uint64(len(body)-20) {
				return nil, errBadCapture
			}
			ticks := uint64(order.Uint32(body[4:]))<<32 | uint64(order.Uint32(body[8:]))
			list = append(list, packet{
				at: time.Duration(ticks) * ifaces[i].unit, link: ifaces[i].link, data: body[20 : 20+size],
			})
		}
		in = in[n:]
	}
	return list, nil
}

// timeUnit reads the resolution of an interface from its options: microseconds, unless the option says nanoseconds.
func timeUnit(order binary.ByteOrder, options []byte) time.Duration {
	for len(options) >= 4 {
		code, n := order.Uint16(options), int(order.Uint16(options[2:]))
		if code == 0 || len(options) < 4+n {
			break
		}
		if code == 9 && n == 1 && options[4] == 9 {
			return time.Nanosecond
		}
		options = options[4+min((n+3)&^3, len(options)-4):]
	}
	return time.Microsecond
}

// A segment is the part of a packet that TCP carries.
type segment struct {
	from, to netip.AddrPort
	seq      uint32
	syn      bool
	data     []byte
}

// The types of the link layer that are understood.
const (
	linkNull     = 0
	linkEthernet = 1
	linkRaw      = 101
	linkCooked   = 113
	linkIPv4     = 228
	linkIPv6     = 229
	linkCooked2  = 276
)

// network cuts the link layer off.
func network(link uint32, p []byte) ([]byte, error) {
	skip := 0
	switch link {
	case linkNull:
		skip = 4
	case linkEthernet:
		skip = 14
		for len(p) > skip && skip < 30 && binary.BigEndian.Uint16(p[skip-2:]) == 0x8100 { // a VLAN
			skip += 4
		}
	case linkRaw, linkIPv4, linkIPv6:
	case linkCooked:
		skip = 16
	case linkCooked2:
		skip = 20
	default:
		return nil, fmt.Errorf("captures of link type %d are not understood", link)
	}
	if len(p) < skip {
		return nil, nil
	}
	return p[skip:], nil
}

// tcp reads the headers of IP and TCP; ok is false for everything else, fragments of IP too.
func tcp(p []byte) (s segment, ok bool) {
	var src, dst netip.Addr
	switch {
	case len(p) >= 20 && p[0]>>4 == 4:
		head, total := int(p[0]&15)*4, int(binary.BigEndian.Uint16(p[2:]))
		if p[9] != 6 || binary.BigEndian.Uint16(p[6:])&0x3fff != 0 || head < 20 || total < head || len(p) < total {
			return s, false
		}
		src, dst = netip.AddrFrom4([4]byte(p[12:16])), netip.AddrFrom4([4]byte(p[16:20]))
		p = p[head:total]
	case len(p) >= 40 && p[0]>>4 == 6:
		total := 40 + int(binary.BigEndian.Uint16(p[4:]))
		if p[6] != 6 || len(p) < total {
			return s, false
		}
		src, dst = netip.AddrFrom16([16]byte(p[8:24])), netip.AddrFrom16([16]byte(p[24:40]))
		p = p[40:total]
	default:
		return s, false
	}
	if len(p) < 20 || int(p[12]>>4)*4 < 20 || len(p) < int(p[12]>>4)*4 {
		return s, false
	}
	return segment{
		from: netip.AddrPortFrom(src, binary.BigEndian.Uint16(p)), to: netip.AddrPortFrom(dst, binary.BigEndian.Uint16(p[2:])),
		seq: binary.BigEndian.Uint32(p[4:]), syn: p[13]&2 != 0, data: p[int(p[12]>>4)*4:],
	}, true
}

// A tcpFlow puts one direction of a connection in order.
//
// Model: next is the sequence number that is missing, once known is true; later are segments that came before their
// turn.
type tcpFlow struct {
	known  bool
	next   uint32
	later  []segment
	stream *frameStream // nil: not known to be HTTP/2
}

// add returns the octets that are in order now.
func (f *tcpFlow) add(s segment) (octets []byte) {
	if s.syn || !f.known {
		f.known, f.next, f.later = true, s.seq, nil
		if s.syn {
			f.next++
			s.seq++
		}
	}
	if len(s.data) > 0 {
		f.later = append(f.later, s)
	}
	for moved := true; moved; {
		moved = false
		for i, l := range f.later {
			past := int32(f.next - l.seq) // octets of it that are known already
			if past < 0 {
				continue
			}
			if int(past) < len(l.data) {
				octets = append(octets, l.data[past:]...)
				f.next += uint32(len(l.data) - int(past))
			}
			f.later = slices.Delete(f.later, i, i+1)
			moved = true
			break
		}
	}
	return octets
}

// capture prints the frames of all connections of a capture that speak HTTP/2 in cleartext.
func (d *frameDumper) capture(in []byte) error {
	packets, err := readPackets(in)
	if err != nil {
		return err
	}
	type way struct{ from, to netip.AddrPort }
	flows := map[way]*tcpFlow{}
	conns := 0
	for _, p := range packets {
		ip, err := network(p.link, p.data)
		if err != nil {
			return err
		}
		s, ok := tcp(ip)
		if !ok {
			continue
		}
		there, back := flows[way{s.from, s.to}], flows[way{s.to, s.from}]
		if there == nil || s.syn && there.stream != nil {
			there = &tcpFlow{}
			flows[way{s.from, s.to}] = there
		}
		octets := there.add(s)
		if len(octets) == 0 {
			continue
		}
		if there.stream == nil && bytes.HasPrefix(octets, []byte(frame.ClientPreface)[:16]) {
			conns++
			there.stream = d.stream(conns, "client")
			if back == nil {
				back = &tcpFlow{}
				flows[way{s.to, s.from}] = back
			}
			back.stream = d.stream(conns, "server")
		}
		if there.stream != nil {
			if _, err := there.stream.feed(octets, (p.at - packets[0].at).Seconds()); err != nil {
				return err
			}
		}
	}
	if conns == 0 {
		return errors.New("no connection of the capture begins with the preface of HTTP/2; is it encrypted?")
	}
	return nil
}

func (d *frameDumper) stream(connection int, direction string) *frameStream {
	return &frameStream{
		dumper: d, fields: h2flow.NewFieldDecoder(), place: &framePlace{connection: connection, direction: direction},
	}
}
