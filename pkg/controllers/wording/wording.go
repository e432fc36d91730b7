// Package wording is how messages of the controllers are written.
package wording

import (
	"fmt"
	"strings"
)

const (
	// MaxNote is how many bytes the API server takes in an event.
	MaxNote  = 1024
	ellipsis = "..."
)

// List joins up to so many names, and counts the others.
func List(names []string, most int) string {
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

// Count is a number and what it counts, or does.
func Count[N int | int32 | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Cut shortens a text to so many bytes, at least 3. It ends between two words where that costs no more than a fourth of it,
// and never within a character.
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	left := strings.ToValidUTF8(text[:most-len(ellipsis)], "")
	if i := strings.LastIndexByte(left, ' '); i > len(left)*3/4 {
		left = left[:i]
	}
	return left + ellipsis
}
