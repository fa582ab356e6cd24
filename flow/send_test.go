package flow_test

import (
	"testing"

	"example.com/h2flow/flow"
)

func TestSendWindow(t *testing.T) {
	var w flow.SendWindow
	w.Spend(60000)
	if got := w.Available(100000); got != 40000 {
		t.Errorf("60,000 of 100,000 spent: want 40000, got %d", got)
	}
	if got := w.Available(16384); got != -43616 {
		t.Errorf("the peer lowered its initial window to 16,384: want -43616, got %d", got)
	}
	if !w.Update(16384, 43616) {
		t.Error("an update of a negative window is no overflow")
	}
	if got := w.Available(16384); got != 0 {
		t.Errorf("the update brings the window to exactly 0, got %d", got)
	}
	if !w.Update(16384, flow.MaxWindow) {
		t.Error("2^31-1 is a legal window")
	}
	if w.Update(16384, 1) {
		t.Error("2^31 is not")
	}
	if got := w.Available(16384); got != flow.MaxWindow {
		t.Errorf("a refused update changes nothing: want %d, got %d", flow.MaxWindow, got)
	}
}

func TestBase(t *testing.T) {
	b := flow.MakeBase(flow.DefaultWindow)
	var w flow.SendWindow
	if !b.Update(&w, 1000) {
		t.Fatal("1,000 more octets fit")
	}
	if !b.Set(flow.MaxWindow - 1000) {
		t.Error("the bound allows exactly 2^31-1")
	}
	if b.Set(flow.MaxWindow - 999) {
		t.Error("one octet more might overflow")
	}
	if got := b.Initial(); got != flow.MaxWindow-1000 {
		t.Errorf("a refused change changes nothing, got %d", got)
	}
	w.Spend(400)
	if b.Set(flow.MaxWindow - 600) {
		t.Error("the bound does not fall by itself")
	}
	b.Tighten(w.Relative())
	if b.Set(flow.MaxWindow - 599) {
		t.Error("this really overflows")
	}
	if !b.Set(flow.MaxWindow - 600) {
		t.Error("this really fits")
	}
	if b.Update(&w, 1) {
		t.Error("the stream's window is 2^31-1 already")
	}
	b.Tighten(-5)
	if b.Set(flow.MaxWindow+1) || b.Set(-1) {
		t.Error("a base outside 0 to 2^31-1 is never right, whatever the streams have")
	}
	if !b.Set(flow.MaxWindow) {
		t.Error("a new stream may have 2^31-1")
	}
}
