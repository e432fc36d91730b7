package wording

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestList(t *testing.T) {
	for names, want := range map[string]string{
		"":        "",
		"a":       "a",
		"a b":     "a, b",
		"a b c":   "a, b and 1 more",
		"a b c d": "a, b and 2 more",
	} {
		if got := List(strings.Fields(names), 2); got != want {
			t.Errorf("%q: %q, want %q", names, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{0: "0 adapters", 1: "1 adapter", 2: "2 adapters", 11: "11 adapters"} {
		if got := Count(n, "adapter", "adapters"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		most int
		want string
	}{
		"as it is":              {"no adapter has room", 19, "no adapter has room"},
		"between two words":     {"no adapter has room", 18, "no adapter has..."},
		"one long word":         {"no adapter-has-room-for-it", 20, "no adapter-has-ro..."},
		"no word":               {"adapter", 6, "ada..."},
		"not within characters": {"äääää", 8, "ää..."},
		"next to nothing":       {"adapter", 3, "..."},
	} {
		if got := Cut(tc.text, tc.most); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func FuzzCut(f *testing.F) {
	f.Add("no adapter has room für alle", 12)
	f.Fuzz(func(t *testing.T, text string, most int) {
		if most < len(ellipsis) || !utf8.ValidString(text) {
			t.Skip()
		}
		got := Cut(text, most)
		kept := strings.TrimSuffix(got, ellipsis)
		if len(got) > most || !utf8.ValidString(got) || got != text && !strings.HasPrefix(text, kept) || len(text) <= most && got != text {
			t.Errorf("%q in %d bytes: %q", text, most, got)
		}
	})
}
