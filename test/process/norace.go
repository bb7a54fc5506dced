//go:build !race

package process

var raceFlags []string
