package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/h2flow/frame"
)

func TestCorpus(t *testing.T) {
	var dirs [2]string
	for i := range dirs {
		dirs[i] = filepath.Join(t.TempDir(), "seeds")
		var stdout, stderr lockedBuffer
		status := run(t.Context(), &env{stdout: &stdout, stderr: &stderr}, []string{"corpus", "--count", "5", "--first", "7", dirs[i]})
		if status != exitDone || stderr.String() != "" || !strings.Contains(stdout.String(), " files, ") {
			t.Fatalf("status %d, %q, %q", status, stdout.String(), stderr.String())
		}
	}
	for pattern, n := range map[string]int{"server/*": 5, "client/*": 5, "frames/*": len(corpusFrames()), "http2.dict": 1} {
		files, err := filepath.Glob(filepath.Join(dirs[0], pattern))
		if err != nil || len(files) != n {
			t.Errorf("%s: %d files, want %d (%v)", pattern, len(files), n, err)
		}
		for _, file := range files {
			one, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			two, err := os.ReadFile(strings.Replace(file, dirs[0], dirs[1], 1))
			if err != nil || !bytes.Equal(one, two) {
				t.Errorf("%s is another file each time (%v)", file, err)
			}
			if strings.Contains(file, "client") && !bytes.HasPrefix(one, []byte(frame.ClientPreface)) {
				t.Errorf("%s does not begin with the preface", file)
			}
		}
	}
	var stdout, stderr lockedBuffer
	if status := run(t.Context(), &env{stdout: &stdout, stderr: &stderr}, []string{"corpus"}); status != exitUsage {
		t.Errorf("without a folder: status %d", status)
	}
}
