package interop

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// Servers that read the file themselves and hand uploads to the backend.

func startNginx(t *testing.T, o *origin) running {
	binary := lookPath(t, "nginx", "nginx")
	s := newSite(t, o)
	p, r := s.run(t, func() *exec.Cmd {
		return exec.Command(binary, "-p", s.Dir, "-e", filepath.Join(s.Dir, "error.log"), "-c", s.render(t, "nginx.conf"))
	})
	r.reload = func(t *testing.T) { p.signal(t, syscall.SIGHUP) }
	return r
}

// startNghttpd runs two of them, since one serves either TLS or cleartext. It knows no backend.
func startNghttpd(t *testing.T, o *origin) running {
	binary := lookPath(t, "nghttpd", "nghttp2-server")
	common := []string{"--address=127.0.0.1", "--htdocs=" + o.dir, "--echo-upload"}
	_, cleartext := startProcess(t, 1, func(ports []string) *exec.Cmd {
		return exec.Command(binary, append(common[:3:3], "--no-tls", ports[0])...)
	})
	_, secure := startProcess(t, 1, func(ports []string) *exec.Cmd {
		return exec.Command(binary, append(common[:3:3], ports[0], o.key, o.cert)...)
	})
	return running{cleartext: cleartext[0], tls: secure[0]}
}

func startApache(t *testing.T, o *origin) running {
	binary := lookPath(t, "apache2", "apache2")
	s := newSite(t, o)
	_, r := s.run(t, func() *exec.Cmd {
		return exec.Command(binary, "-f", s.render(t, "apache.conf"), "-DFOREGROUND")
	})
	return r
}

func startH2O(t *testing.T, o *origin) running {
	binary := lookPath(t, "h2o", "h2o")
	s := newSite(t, o)
	_, r := s.run(t, func() *exec.Cmd { return exec.Command(binary, "-c", s.render(t, "h2o.yaml")) })
	return r
}

func startCaddy(t *testing.T, o *origin) running {
	binary := lookPath(t, "caddy", "caddy")
	s := newSite(t, o)
	_, r := s.run(t, func() *exec.Cmd {
		cmd := exec.Command(binary, "run", "--config", s.render(t, "Caddyfile"), "--adapter", "caddyfile")
		cmd.Env = append(os.Environ(), "HOME="+s.Dir, "XDG_DATA_HOME="+s.Dir, "XDG_CONFIG_HOME="+s.Dir)
		return cmd
	})
	return r
}

func startLighttpd(t *testing.T, o *origin) running {
	binary := lookPath(t, "lighttpd", "lighttpd lighttpd-mod-openssl")
	if modules, _ := filepath.Glob("/usr/lib/lighttpd/mod_openssl.so"); len(modules) == 0 {
		t.Skip("lighttpd's TLS is not installed (Debian: apt-get install lighttpd-mod-openssl)")
	}
	s := newSite(t, o)
	_, r := s.run(t, func() *exec.Cmd { return exec.Command(binary, "-D", "-f", s.render(t, "lighttpd.conf")) })
	return r
}
