package soak

import "time"

// late is for how long somebody may act on what is not so any more, because he has not heard of it yet. The machine of a run
// is busy, and looks at each pool are a second apart.
const late = 5 * time.Second

// timeline is what something was of late, each value since when. The last one lasts.
type timeline[T comparable] []moment[T]

type moment[T comparable] struct {
	at time.Time
	is T
}

// becomes notes a value. What ended long ago is forgotten.
func (t *timeline[T]) becomes(is T, at time.Time) {
	const longest = time.Minute
	if n := len(*t); n > 0 && (*t)[n-1].is == is {
		return
	}
	*t = append(*t, moment[T]{at, is})
	for len(*t) > 1 && at.Sub((*t)[1].at) > longest {
		*t = (*t)[1:]
	}
}

// since are the values that it had at a time or later.
func (t timeline[T]) since(from time.Time) (values []T) {
	for i, m := range t {
		if i == len(t)-1 || t[i+1].at.After(from) {
			values = append(values, m.is)
		}
	}
	return values
}
