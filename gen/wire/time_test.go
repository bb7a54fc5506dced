package wire_test

import (
	"encoding/json"
	"testing"
	"time"

	"gatehouse/gen/wire"
)

// API-1: a time has six digits of a second, also where they are zero.
func TestTime(t *testing.T) {
	for in, want := range map[string]string{
		`"2031-03-04T05:06:07Z"`:           `"2031-03-04T05:06:07.000000Z"`,
		`"2031-03-04T05:06:07.12+02:00"`:   `"2031-03-04T03:06:07.120000Z"`,
		`"2031-03-04T05:06:07.123456789Z"`: `"2031-03-04T05:06:07.123456Z"`,
	} {
		var at wire.Time
		if err := json.Unmarshal([]byte(in), &at); err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(at); err != nil || string(got) != want {
			t.Errorf("%s is %s, %v, want %s", in, got, err, want)
		}
	}
	if got, err := json.Marshal(wire.Time{Time: time.Date(2031, 3, 4, 5, 6, 7, 0, time.FixedZone("", 3600))}); err != nil || string(got) != `"2031-03-04T04:06:07.000000Z"` {
		t.Errorf("%s, %v", got, err)
	}
}
