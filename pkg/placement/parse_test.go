package placement_test

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"vpod.dev/vpod-scheduler/pkg/placement"
)

func TestParse(t *testing.T) {
	tests := map[string]struct {
		wantOrdinal, wantLimit bool
	}{
		"0":          {wantOrdinal: true},
		"1":          {wantOrdinal: true, wantLimit: true},
		"9":          {wantOrdinal: true, wantLimit: true},
		"10":         {wantOrdinal: true, wantLimit: true},
		"5000":       {wantOrdinal: true, wantLimit: true},
		"2147483647": {wantOrdinal: true, wantLimit: true},
		"2147483648": {}, "9223372036854775808": {}, "99999999999999999999": {},
		"": {}, "-1": {}, "-0": {}, "+1": {}, "00": {}, "01": {}, " 1": {}, "1 ": {}, "1\n": {}, "x": {}, "1x": {}, "0x1": {},
		"1_0": {}, "1e3": {}, "1.0": {}, "٣": {}, "１": {}, "1\x00": {}, "\xff": {}, "null": {}, "true": {},
	}
	for text, tc := range tests {
		t.Run(strconv.Quote(text), func(t *testing.T) {
			if _, err := placement.ParseOrdinal(text); (err == nil) != tc.wantOrdinal {
				t.Errorf("as an ordinal: error %v, want accepted %t", err, tc.wantOrdinal)
			}
			if _, err := placement.ParseLimit(text); (err == nil) != tc.wantLimit {
				t.Errorf("as a limit: error %v, want accepted %t", err, tc.wantLimit)
			}
		})
	}
}

func FuzzParseOrdinal(f *testing.F) { fuzzParse(f, placement.ParseOrdinal, 0) }

func FuzzParseLimit(f *testing.F) { fuzzParse(f, placement.ParseLimit, 1) }

var canonical = regexp.MustCompile(`\A(0|[1-9][0-9]*)\z`)

// fuzzParse demands that exactly the canonical decimals from least to 2^31-1 are accepted, each as the number it says.
func fuzzParse(f *testing.F, parse func(string) (int, error), least int64) {
	for _, seed := range []string{"", "0", "1", "7", "10", "-1", "+1", "01", " 1", "1\n", "x", "0x1f", "1_000", "1e3", "2147483647", "2147483648",
		"9223372036854775807", "18446744073709551616", "٣"} {
		f.Add(seed)
	}
	highest := big.NewInt(1<<31 - 1)
	f.Fuzz(func(t *testing.T, text string) {
		value, isNumber := new(big.Int).SetString(text, 10)
		want := isNumber && canonical.MatchString(text) && value.Cmp(big.NewInt(least)) >= 0 && value.Cmp(highest) <= 0

		n, err := parse(text)
		if (err == nil) != want {
			t.Fatalf("%q: error %v, want accepted %t", text, err, want)
		}
		if err == nil && strconv.Itoa(n) != text {
			t.Errorf("%q is read as %d", text, n)
		}
		if err != nil && !strings.Contains(err.Error(), strconv.Quote(text)) {
			t.Errorf("error does not name %q: %v", text, err)
		}
	})
}
