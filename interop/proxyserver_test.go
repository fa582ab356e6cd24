package interop

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
	"testing"
)

// Servers that hand everything to the backend.

func startNghttpx(t *testing.T, o *origin) running {
	binary := lookPath(t, "nghttpx", "nghttp2-proxy")
	s := newSite(t, o)
	_, r := s.run(t, func() *exec.Cmd {
		return exec.Command(binary, "--conf=/dev/null", "--workers=1", "--errorlog-file=/dev/stderr",
			"--frontend=127.0.0.1,"+s.Cleartext+";no-tls", "--frontend=127.0.0.1,"+s.TLS,
			"--backend="+s.BackendHost+","+s.BackendPort, s.Key, s.Cert)
	})
	return r
}

func startHAProxy(t *testing.T, o *origin) running {
	binary := lookPath(t, "haproxy", "haproxy")
	s := newSite(t, o)
	p, r := s.run(t, func() *exec.Cmd { return exec.Command(binary, "-W", "-f", s.render(t, "haproxy.cfg")) })
	r.reload = func(t *testing.T) { p.signal(t, syscall.SIGUSR2) }
	return r
}

// startVarnish runs Varnish, and hitch before it for TLS.
func startVarnish(t *testing.T, o *origin) running {
	binary, tls := lookPath(t, "varnishd", "varnish"), lookPath(t, "hitch", "hitch")
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("Varnish needs gcc to compile its configuration (Debian: apt-get install gcc)")
	}
	s := newSite(t, o)
	_, cleartext := startProcess(t, 1, func(ports []string) *exec.Cmd {
		return exec.Command(binary, "-F", "-a", "127.0.0.1:"+ports[0]+",HTTP", "-f", s.render(t, "varnish.vcl"), "-n", s.Dir,
			"-s", "malloc,64m", "-p", "feature=+http2",
			"-p", "http_req_size=128k", "-p", "http_req_hdr_len=32k", "-p", "workspace_client=512k",
			"-p", "http_resp_size=128k", "-p", "http_resp_hdr_len=32k", "-p", "workspace_backend=512k")
	})
	_, port := splitAddr(t, cleartext[0])
	_, secure := startProcess(t, 1, func(ports []string) *exec.Cmd {
		args := []string{"--frontend=[127.0.0.1]:" + ports[0], "--backend=[127.0.0.1]:" + port, "--alpn-protos=h2,http/1.1", s.Pair}
		if s.Root {
			args = append(args, "--user=nobody")
		}
		return exec.Command(tls, args...)
	})
	return running{cleartext: cleartext[0], tls: secure[0]}
}

func startTrafficServer(t *testing.T, o *origin) running {
	binary := lookPath(t, "traffic_server", "trafficserver")
	s := newSite(t, o)
	if owner, err := user.Lookup("trafficserver"); err == nil && s.Root {
		s.User = owner.Username
		uid, err := strconv.Atoi(owner.Uid)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(s.Dir, uid, -1); err != nil {
			t.Fatal(err)
		}
	}
	_, r := s.run(t, func() *exec.Cmd {
		s.render(t, "remap.config")
		s.render(t, "ssl_multicert.config")
		s.render(t, "records.config")
		s.render(t, "storage.config")
		s.render(t, "ip_allow.yaml")
		cmd := exec.Command(binary, "--run-root="+s.render(t, "runroot.yaml"))
		cmd.Env = append(os.Environ(), "PROXY_CONFIG_HTTP_SERVER_PORTS="+
			s.Cleartext+":ip-in=127.0.0.1:proto=http2 "+s.TLS+":ip-in=127.0.0.1:ssl")
		return cmd
	})
	return r
}
