package placement_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vpod.dev/vpod-scheduler/pkg/placement"
)

func running(id string, since int64) placement.Occupant {
	return placement.Occupant{ID: id, Size: 1, Admitted: true, Since: since}
}

func newly(id string, since int64) placement.Occupant {
	return placement.Occupant{ID: id, Size: 1, Since: since}
}

func created(at int64, o placement.Occupant) placement.Occupant { o.Created = at; return o }

func sized(size int64, o placement.Occupant) placement.Occupant { o.Size = size; return o }

func leaving(o placement.Occupant) placement.Occupant { o.Leaving = true; return o }

// many are n that run, the oldest first.
func many(n int) []placement.Occupant {
	var occupants []placement.Occupant
	for i := range n {
		occupants = append(occupants, running(fmt.Sprintf("x-%d", i), int64(i)))
	}
	return occupants
}

func TestSurplus(t *testing.T) {
	type occupants []placement.Occupant
	tests := map[string]struct {
		capacity  int64
		occupants occupants
		want      []string
	}{
		"C8 8 of capacity 10, lowered to 6: the newest 2": {
			capacity: 6, occupants: many(8), want: []string{"x-7: requested 1, free 0 of 6", "x-6: requested 1, free 0 of 6"},
		},
		"C8 2 of capacity 10, lowered to 6: none": {capacity: 6, occupants: many(2)},
		"C3 newly bound beyond capacity": {
			capacity: 2, occupants: occupants{newly("c", 3), running("a", 1), running("b", 2)}, want: []string{"c: requested 1, free 0 of 2"},
		},
		"admitted later than the other was bound: the bound one goes": {
			capacity: 1, occupants: occupants{newly("a", 1), running("b", 2)}, want: []string{"a: requested 1, free 0 of 1"},
		},
		"since alike: the one created later": {
			capacity: 1, occupants: occupants{created(2, newly("a", 5)), created(1, newly("b", 5))}, want: []string{"a: requested 1, free 0 of 1"},
		},
		"since before created": {
			capacity: 1, occupants: occupants{created(2, newly("a", 5)), created(1, newly("b", 6))}, want: []string{"b: requested 1, free 0 of 1"},
		},
		"all alike: the greater id": {
			capacity: 1, occupants: occupants{newly("b", 5), newly("a", 5)}, want: []string{"b: requested 1, free 0 of 1"},
		},
		"one does not fit, a smaller later one does": {
			capacity: 3, occupants: occupants{sized(2, running("a", 1)), sized(2, running("b", 2)), running("c", 3)},
			want: []string{"b: requested 2, free 1 of 3"},
		},
		"leaving ones hold room": {
			capacity: 2, occupants: occupants{leaving(newly("a", 9)), running("b", 1), running("c", 2)}, want: []string{"c: requested 1, free 0 of 2"},
		},
		"leaving ones hold all room and more": {
			capacity: 1, occupants: occupants{leaving(newly("a", 8)), leaving(newly("b", 9)), running("c", 1)}, want: []string{"c: requested 1, free -1 of 1"},
		},
		"leaving ones never go":             {capacity: 0, occupants: occupants{leaving(running("a", 1))}},
		"capacity 0: all":                   {capacity: 0, occupants: many(2), want: []string{"x-1: requested 1, free 0 of 0", "x-0: requested 1, free 0 of 0"}},
		"capacity below 0: all":             {capacity: -3, occupants: many(1), want: []string{"x-0: requested 1, free -3 of -3"}},
		"what takes no room stays anywhere": {capacity: -3, occupants: occupants{sized(0, running("a", 1))}},
		"leaving more than can be added up": {
			capacity: 1, occupants: occupants{leaving(sized(math.MaxInt64, newly("a", 1))), leaving(sized(math.MaxInt64, newly("b", 1))), running("c", 1)},
			want: []string{"c: requested 1, free -9223372036854775808 of 1"},
		},
		"capacity without end": {capacity: math.MaxInt64, occupants: many(3)},
		"none":                 {capacity: 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, r := range placement.Surplus(tc.capacity, tc.occupants) {
				got = append(got, r.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("surplus (-want +got):\n%s", diff)
			}
		})
	}
}

// everyLoad checks a property on random occupants of an adapter; times are often alike.
func everyLoad(t *testing.T, check func(rng *rand.Rand, capacity int64, occupants []placement.Occupant) error) {
	t.Helper()
	everyCluster(t, func(rng *rand.Rand, _ *pool) error {
		var occupants []placement.Occupant
		for i := range rng.IntN(10) {
			occupants = append(occupants, randomOccupant(rng, fmt.Sprintf("x-%d", i)))
		}
		capacity := rng.Int64N(16) - 2
		if err := check(rng, capacity, occupants); err != nil {
			return fmt.Errorf("capacity %d of %+v: %w", capacity, occupants, err)
		}
		return nil
	})
}

func randomOccupant(rng *rand.Rand, id string) placement.Occupant {
	return placement.Occupant{
		ID: id, Size: rng.Int64N(4), Admitted: oneIn(rng, 2), Since: rng.Int64N(4), Created: rng.Int64N(3), Leaving: oneIn(rng, 6),
	}
}

func idsOf(rejected []placement.Rejection) []string {
	var ids []string
	for _, r := range rejected {
		ids = append(ids, r.ID)
	}
	return ids
}

func TestSurplusLeavesWhatFits(t *testing.T) {
	everyLoad(t, func(_ *rand.Rand, capacity int64, occupants []placement.Occupant) error {
		gone := idsOf(placement.Surplus(capacity, occupants))
		kept, all, held := int64(0), int64(0), int64(0)
		for _, o := range occupants {
			all += o.Size
			if !slices.Contains(gone, o.ID) {
				kept += o.Size
			} else if o.Leaving {
				return fmt.Errorf("%s was leaving, and is picked", o.ID)
			}
			if o.Leaving {
				held += o.Size
			}
		}
		if kept > max(capacity, held) {
			return fmt.Errorf("without %v there are %d, want at most %d, of which %d are leaving", gone, kept, max(capacity, held), held)
		}
		if all <= capacity && len(gone) > 0 {
			return fmt.Errorf("%v go, though all %d fit", gone, all)
		}
		return nil
	})
}

func TestOrderOfOccupantsDoesNotMatter(t *testing.T) {
	everyLoad(t, func(rng *rand.Rand, capacity int64, occupants []placement.Occupant) error {
		first, mixed := placement.Surplus(capacity, occupants), slices.Clone(occupants)
		for range 3 {
			rng.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
			given := slices.Clone(mixed)
			if again := placement.Surplus(capacity, mixed); !slices.Equal(first, again) {
				return fmt.Errorf("%v go, and in another order %v", first, again)
			}
			if !slices.Equal(given, mixed) {
				return fmt.Errorf("occupants were reordered")
			}
		}
		return nil
	})
}

// Whoever comes last changes nothing for those before: a vreplica bound by mistake harms no other.
func TestNewerOccupantDisplacesNoOlder(t *testing.T) {
	everyLoad(t, func(rng *rand.Rand, capacity int64, occupants []placement.Occupant) error {
		newest := randomOccupant(rng, "y")
		newest.Admitted, newest.Leaving, newest.Since = false, false, 4
		before, after := idsOf(placement.Surplus(capacity, occupants)), idsOf(placement.Surplus(capacity, append(occupants, newest)))
		after = slices.DeleteFunc(after, func(id string) bool { return id == newest.ID })
		if !slices.Equal(before, after) {
			return fmt.Errorf("%v go, and with %+v %v", before, newest, after)
		}
		return nil
	})
}

// Once the surplus is gone there is none, so that a second look removes nobody else.
func TestSurplusIsRemovedOnce(t *testing.T) {
	everyLoad(t, func(_ *rand.Rand, capacity int64, occupants []placement.Occupant) error {
		gone := idsOf(placement.Surplus(capacity, occupants))
		left := slices.DeleteFunc(slices.Clone(occupants), func(o placement.Occupant) bool { return slices.Contains(gone, o.ID) })
		if again := placement.Surplus(capacity, left); len(again) > 0 {
			return fmt.Errorf("%v go, and then %v", gone, again)
		}
		return nil
	})
}

// Where all are of one size, those that stay come before those that go.
func TestSurplusOfOneSizeIsTheEndOfTheOrder(t *testing.T) {
	key := func(o placement.Occupant) []int64 {
		if o.Admitted {
			return []int64{0, o.Since, o.Created}
		}
		return []int64{1, o.Since, o.Created}
	}
	everyLoad(t, func(_ *rand.Rand, capacity int64, occupants []placement.Occupant) error {
		staying := map[string]placement.Occupant{}
		for i := range occupants {
			occupants[i].Size = 1
			if !occupants[i].Leaving {
				staying[occupants[i].ID] = occupants[i]
			}
		}
		rejected := placement.Surplus(capacity, occupants)
		for _, r := range rejected {
			delete(staying, r.ID)
		}
		for _, s := range staying {
			for _, r := range rejected {
				if c := slices.Compare(key(s), key(r.Occupant)); c > 0 || c == 0 && s.ID > r.ID {
					return fmt.Errorf("%+v stays, and %+v goes", s, r.Occupant)
				}
			}
		}
		if free := capacity - int64(len(occupants)-len(rejected)); len(rejected) > 0 && free > 0 {
			return fmt.Errorf("%v go, though %d are free", idsOf(rejected), free)
		}
		return nil
	})
}
