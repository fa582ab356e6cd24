package h2http_test

//lint:file-ignore SA1019 people come from x/net's Transport because it is deprecated

import (
	"fmt"
	"go/format"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"example.com/h2flow/h2http"
	"golang.org/x/net/http2"
)

// TestMigratingNamesEveryField of the types that people come from, and no field of ours that there is not.
//
// Contract: N1, N2.
func TestMigratingNamesEveryField(t *testing.T) {
	page, err := os.ReadFile("../docs/migrating.md")
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]reflect.Type{
		"http2.Transport": reflect.TypeFor[http2.Transport](), "http.Transport": reflect.TypeFor[http.Transport](),
		"http.HTTP2Config": reflect.TypeFor[http.HTTP2Config](),
	}
	ours := reflect.TypeFor[h2http.Transport]()
	row := regexp.MustCompile("(?m)^\\| `([A-Za-z0-9]+)` \\|(?: `([A-Za-z0-9]+)`)? \\|")
	for name, typ := range types {
		_, section, found := strings.Cut(string(page), "| "+name+" | h2http.Transport | note |\n")
		if !found {
			t.Fatalf("no table of %s", name)
		}
		section, _, _ = strings.Cut(section, "\n\n")
		rows := map[string]bool{}
		for _, m := range row.FindAllStringSubmatch(section, -1) {
			rows[m[1]] = true
			if _, ok := ours.FieldByName(m[2]); m[2] != "" && !ok {
				t.Errorf("%s.%s: we have no field %s", name, m[1], m[2])
			}
			if _, ok := typ.FieldByName(m[1]); !ok {
				t.Errorf("%s has no field %s", name, m[1])
			}
		}
		for _, f := range reflect.VisibleFields(typ) {
			if f.IsExported() && !rows[f.Name] {
				t.Errorf("%s.%s is not on the page", name, f.Name)
			}
		}
	}
}

// TestMigratingSnippetsRun: what the page shows is in this file, where it is compiled and run.
func TestMigratingSnippetsRun(t *testing.T) {
	page, err := os.ReadFile("../docs/migrating.md")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.ReadFile("migrating_test.go")
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(code) != 2 {
		t.Errorf("%d snippets", len(code))
	}
	for _, m := range code {
		want, err := format.Source([]byte(m[1]))
		if err != nil {
			t.Errorf("%v in\n%s", err, m[1])
			continue
		}
		if !strings.Contains(strings.ReplaceAll(string(self), "\n\t", "\n"), strings.ReplaceAll(string(want), "\n\t", "\n")) {
			t.Errorf("this snippet is not compiled:\n%s", want)
		}
	}

	client := &http.Client{Transport: &h2http.Transport{}}
	client.Transport.(*h2http.Transport).AllowHTTP = true
	server := exampleServer(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) })
	defer server.Close()
	defer client.CloseIdleConnections()
	if got := read(t, client, server.URL); got != "HTTP/2.0" {
		t.Error(got)
	}

	both := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Proto)
	}))
	both.EnableHTTP2 = true
	both.StartTLS()
	defer both.Close()
	for known, want := range map[bool]string{true: "HTTP/2.0", false: "HTTP/1.1"} {
		h2 := &h2http.Transport{TLSClientConfig: trusting(both)}
		h1 := &http.Transport{TLSClientConfig: trusting(both)}
		h1.TLSClientConfig.NextProtos = nil
		h1.RegisterProtocol("https", h2Hosts{h2, map[string]bool{strings.TrimPrefix(both.URL, "https://"): known}})
		if got := read(t, &http.Client{Transport: h1}, both.URL); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		h1.CloseIdleConnections()
		h2.CloseIdleConnections()
	}
}

type h2Hosts struct {
	h2    *h2http.Transport
	hosts map[string]bool
}

func (h h2Hosts) RoundTrip(req *http.Request) (*http.Response, error) {
	if !h.hosts[req.URL.Host] {
		return nil, http.ErrSkipAltProtocol
	}
	return h.h2.RoundTrip(req)
}

func read(t *testing.T, client *http.Client, url string) string {
	t.Helper()
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return string(body)
}
