package stream

import "example.com/h2flow/frame"

type transition struct {
	verdict Verdict
	next    State
}

var (
	ok     = Verdict{Kind: Accept}
	ignore = Verdict{Kind: Ignore}

	// A frame that the state description does not allow, with no other rule, is a connection error of type
	// PROTOCOL_ERROR. RFC 9113, Section 5.1 (9113-5.1-1, 9113-5.1-19).
	protocol = Verdict{Kind: ConnFault, Code: frame.ProtocolError}

	// On a stream that the peer has ended but we have not, HEADERS and DATA are a stream error of type STREAM_CLOSED.
	// RFC 9113, Section 5.1 (9113-5.1-9, 9113-6.1-2).
	lateFrame = Verdict{Kind: StreamFault, Code: frame.StreamClosed}

	// After the peer has ended or reset a closed stream, further HEADERS or DATA may be a connection error of type
	// STREAM_CLOSED; nothing may be sent on the stream any more, so that is what remains. RFC 9113, Section 5.1
	// (9113-5.1-12).
	afterClose = Verdict{Kind: ConnFault, Code: frame.StreamClosed}
)

// transitions is the life cycle of RFC 9113, Section 5.1, for a client.
var transitions = [numStates][numInputs]transition{
	Idle: {
		SendHeaders:      {ok, Open},
		RecvHeaders:      {protocol, 0}, // a server opens no stream by HEADERS (9113-5.1-2)
		RecvData:         {protocol, 0},
		RecvEndStream:    {protocol, 0},
		RecvReset:        {protocol, 0}, // 9113-6.4-3
		RecvWindowUpdate: {protocol, 0},
		RecvPriority:     {ok, Idle}, // acceptable in every state (9113-5.1-20), changes none (9113-6.3-3)
		RecvPushPromise:  {protocol, 0},
		RecvPromised:     {ok, ReservedRemote},
	},
	ReservedRemote: {
		SendReset:        {ok, ClosedSentReset},
		SendWindowUpdate: {ok, ReservedRemote},
		RecvHeaders:      {ok, HalfClosedLocal},
		RecvData:         {protocol, 0}, // 9113-5.1-5
		RecvEndStream:    {protocol, 0},
		RecvReset:        {ok, ClosedRecvReset},
		RecvWindowUpdate: {protocol, 0},
		RecvPriority:     {ok, ReservedRemote},
		RecvPushPromise:  {protocol, 0},
		RecvPromised:     {protocol, 0},
	},
	Open: {
		SendHeaders:      {ok, Open},
		SendData:         {ok, Open},
		SendEndStream:    {ok, HalfClosedLocal},
		SendReset:        {ok, ClosedSentReset},
		SendWindowUpdate: {ok, Open},
		RecvHeaders:      {ok, Open},
		RecvData:         {ok, Open},
		RecvEndStream:    {ok, HalfClosedRemote},
		RecvReset:        {ok, ClosedRecvReset},
		RecvWindowUpdate: {ok, Open},
		RecvPriority:     {ok, Open},
		RecvPushPromise:  {ok, Open},
		RecvPromised:     {protocol, 0}, // the promised stream is not idle (9113-6.6-7)
	},
	HalfClosedLocal: {
		SendReset:        {ok, ClosedSentReset},
		SendWindowUpdate: {ok, HalfClosedLocal},
		RecvHeaders:      {ok, HalfClosedLocal},
		RecvData:         {ok, HalfClosedLocal},
		RecvEndStream:    {ok, ClosedEnded},
		RecvReset:        {ok, ClosedRecvReset},
		RecvWindowUpdate: {ok, HalfClosedLocal}, // may be ignored, never punished (9113-5.1-8)
		RecvPriority:     {ok, HalfClosedLocal},
		RecvPushPromise:  {ok, HalfClosedLocal},
		RecvPromised:     {protocol, 0},
	},
	HalfClosedRemote: {
		SendHeaders:      {ok, HalfClosedRemote},
		SendData:         {ok, HalfClosedRemote},
		SendEndStream:    {ok, ClosedEnded},
		SendReset:        {ok, ClosedSentReset},
		RecvHeaders:      {lateFrame, 0},
		RecvData:         {lateFrame, 0},
		RecvEndStream:    {lateFrame, 0},
		RecvReset:        {ok, ClosedRecvReset},
		RecvWindowUpdate: {ok, HalfClosedRemote},
		RecvPriority:     {ok, HalfClosedRemote},
		RecvPushPromise:  {protocol, 0}, // 9113-6.6-5
		RecvPromised:     {protocol, 0},
	},
	ClosedEnded: {
		RecvHeaders:      {afterClose, 0},
		RecvData:         {afterClose, 0},
		RecvEndStream:    {afterClose, 0},
		RecvReset:        {ignore, 0}, // normal for a while after our END_STREAM (9113-5.1-13)
		RecvWindowUpdate: {ignore, 0}, // never an error (9113-6.9-4)
		RecvPriority:     {ignore, 0},
		RecvPushPromise:  {protocol, 0},
		RecvPromised:     {protocol, 0},
	},
	ClosedSentReset: { // whatever crossed our reset on the way is dropped (9113-5.1-14)
		RecvHeaders:      {ignore, 0},
		RecvData:         {ignore, 0},
		RecvEndStream:    {ignore, 0},
		RecvReset:        {ignore, 0},
		RecvWindowUpdate: {ignore, 0},
		RecvPriority:     {ignore, 0},
		RecvPushPromise:  {ignore, 0}, // the promised stream is still reserved (9113-5.1-17)
		RecvPromised:     {protocol, 0},
	},
	ClosedRecvReset: {
		RecvHeaders:      {afterClose, 0},
		RecvData:         {afterClose, 0},
		RecvEndStream:    {afterClose, 0},
		RecvReset:        {ignore, 0},
		RecvWindowUpdate: {ignore, 0},
		RecvPriority:     {ignore, 0},
		RecvPushPromise:  {protocol, 0},
		RecvPromised:     {protocol, 0},
	},
	ClosedForgotten: { // how it closed is not known, so the lenient reading holds
		RecvHeaders:      {ignore, 0},
		RecvData:         {ignore, 0},
		RecvEndStream:    {ignore, 0},
		RecvReset:        {ignore, 0},
		RecvWindowUpdate: {ignore, 0},
		RecvPriority:     {ignore, 0},
		RecvPushPromise:  {ignore, 0},
		RecvPromised:     {protocol, 0},
	},
}
