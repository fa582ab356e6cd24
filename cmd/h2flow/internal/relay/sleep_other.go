//go:build !linux

package relay

func newAlarm() alarm { return newTimerAlarm() }
