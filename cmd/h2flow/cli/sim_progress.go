package cli

import "github.com/schollz/progressbar/v3"

// newCellProgress starts a bar that counts cells, with the time that is left. Its counter is octets, like that of any
// progress; the caller ends it with finish.
func newCellProgress(e *env, total int) *progress {
	p := &progress{stop: make(chan struct{})}
	if !e.terminal {
		return p
	}
	p.bar = progressbar.NewOptions64(int64(total),
		progressbar.OptionSetWriter(e.stderr), progressbar.OptionSetDescription("cells"),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("cells"),
		progressbar.OptionSetPredictTime(true), progressbar.OptionSetWidth(24), progressbar.OptionThrottle(progressInterval),
		progressbar.OptionClearOnFinish(), progressbar.OptionUseANSICodes(true), progressbar.OptionSetElapsedTime(true),
	)
	p.stopped.Go(p.follow)
	return p
}
