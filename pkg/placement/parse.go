package placement

import (
	"fmt"
	"math"
	"strconv"
)

// ParseOrdinal reads an ordinal: a decimal number from 0 to 2147483647, without sign, spaces or leading zeros, so that
// two texts never mean the same adapter.
func ParseOrdinal(s string) (int, error) { return parse(s, 0) }

// ParseLimit reads the most adapters that a vpod may use: as an ordinal, but from 1.
func ParseLimit(s string) (int, error) { return parse(s, 1) }

func parse(s string, least int) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < least || n > math.MaxInt32 || strconv.Itoa(n) != s {
		return 0, fmt.Errorf("%q is not a whole number from %d to %d in plain decimal digits", s, least, math.MaxInt32)
	}
	return n, nil
}
