package interop

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Servers that are libraries of a language's runtime.

func startNode(t *testing.T, o *origin) running {
	binary := lookPath(t, "node", "nodejs")
	s := newSite(t, o)
	_, r := s.run(t, func() *exec.Cmd {
		return exec.Command(binary, "--max-http-header-size=131072", s.render(t, "server.mjs"),
			s.Cleartext, s.TLS, s.Cert, s.Key, s.Files)
	})
	return r
}

func startHypercorn(t *testing.T, o *origin) running {
	binary := lookPath(t, "hypercorn", "python3-hypercorn")
	s := newSite(t, o)
	_, r := s.run(t, func() *exec.Cmd {
		s.render(t, "origin_app.py")
		cmd := exec.Command(binary, "--config", "file:"+s.render(t, "hypercorn.py"), "--workers=1",
			"--bind=127.0.0.1:"+s.TLS, "--insecure-bind=127.0.0.1:"+s.Cleartext,
			"--certfile="+s.Cert, "--keyfile="+s.Key, "origin_app:app")
		cmd.Env = append(os.Environ(), "FILES="+s.Files, "PYTHONDONTWRITEBYTECODE=1")
		return cmd
	})
	return r
}

// startJetty needs no compiler: Jetty is put together by its XML file.
func startJetty(t *testing.T, o *origin) running {
	const jars = "/usr/share/java"
	binary := lookPath(t, "java", "default-jre-headless")
	openssl := lookPath(t, "openssl", "openssl")
	if !isFile(filepath.Join(jars, "jetty9-http2-server.jar")) {
		t.Skip("Jetty is not installed (Debian: apt-get install libjetty9-java libjetty9-extra-java)")
	}
	var path []string
	for _, part := range []string{
		"xml", "server", "util", "io", "http", "http2-server", "http2-common", "http2-hpack", "alpn-server",
		"alpn-java-server", "servlet", "security", "jmx", "proxy", "client", "util-ajax",
	} {
		path = append(path, filepath.Join(jars, "jetty9-"+part+".jar"))
	}
	path = append(path, filepath.Join(jars, "servlet-api.jar"))
	s := newSite(t, o)
	s.KeyStore = filepath.Join(s.Dir, "pair.p12")
	if out, err := exec.Command(openssl, "pkcs12", "-export", "-in", s.Pair, "-out", s.KeyStore,
		"-passout", "pass:interop").CombinedOutput(); err != nil {
		t.Fatalf("openssl pkcs12: %v\n%s", err, out)
	}
	_, r := s.run(t, func() *exec.Cmd {
		return exec.Command(binary, "-Xmx256m", "-cp", strings.Join(path, ":"),
			"org.eclipse.jetty.xml.XmlConfiguration", s.render(t, "jetty.xml"))
	})
	return r
}
