package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// Bytes is a size in bytes. As text it may carry a unit: 8MiB is 8388608.
type Bytes int64

var units = []struct {
	suffix string
	bytes  int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

var errSize = errors.New("no size")

// Set parses a size (pflag.Value).
func (b *Bytes) Set(s string) error {
	factor := int64(1)
	for _, u := range units {
		if number, ok := strings.CutSuffix(s, u.suffix); ok {
			s, factor = strings.TrimSpace(number), u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/factor {
		return errSize
	}
	*b = Bytes(n * factor)
	return nil
}

// String is the size in the largest unit that divides it.
func (b *Bytes) String() string {
	for _, u := range units {
		if n := int64(*b); n != 0 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.suffix
		}
	}
	return strconv.FormatInt(int64(*b), 10)
}

// Type names the kind of value in the help (pflag.Value).
func (*Bytes) Type() string { return "size" }
