package demo

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// The rules here are written for reading, from the design and not from the scheduler's code, so that a mistake there
// cannot hide here.

// check returns all that the state after a step has against what vpod-scheduler promises; before is the state that the
// step started from, with the cordons that the step made.
func check(before, after state) error {
	var broken []error
	for _, a := range after.adapters {
		broken = append(broken, checkAdapter(a, after))
	}
	for _, v := range after.vpods {
		broken = append(broken, checkLimit(v), checkSpread(v, after), checkZones(v, after), checkWaiting(v, after), checkPublished(v))
	}
	broken = append(broken, checkStayed(before, after), checkNumberWaiting(before, after))
	return errors.Join(broken...)
}

// checkMoving is check for a pool whose adapters come and go: what was placed moves then, and where it goes first is where
// there is room, however uneven that is.
func checkMoving(_, after state) error {
	var broken []error
	for _, a := range after.adapters {
		broken = append(broken, checkAdapter(a, after))
	}
	for _, v := range after.vpods {
		broken = append(broken, checkLimit(v), checkWaiting(v, after), checkPublished(v))
	}
	return errors.Join(broken...)
}

func checkAdapter(a adapter, s state) error {
	if s.used(a) > a.capacity {
		return fmt.Errorf("%s serves %d vreplicas, which is above its capacity of %d", a.name, s.used(a), a.capacity)
	}
	return nil
}

func checkLimit(v vpod) error {
	if v.limit > 0 && v.adaptersUsed() > v.limit {
		return fmt.Errorf("%s uses %d adapters, which is above its limit of %d", v.name, v.adaptersUsed(), v.limit)
	}
	return nil
}

// eligible tells whether an adapter could take one more vreplica of the vpod, spread aside.
func eligible(a adapter, v vpod, s state) bool {
	mayUse := v.limit == 0 || v.count(a.name) > 0 || v.adaptersUsed() < v.limit
	return !a.cordoned && s.free(a) >= 1 && mayUse
}

// checkSpread compares each adapter in use with each that could have taken the vreplica instead. An adapter that is
// out of use or full holds nobody back, however few it serves.
func checkSpread(v vpod, s state) error {
	for _, most := range s.adapters {
		for _, least := range s.adapters {
			if most.cordoned || !eligible(least, v, s) {
				continue
			}
			if v.count(most.name)-v.count(least.name) > 1 {
				return fmt.Errorf("%s has %d vreplicas on %s and %d on %s, which has room",
					v.name, v.count(most.name), most.name, v.count(least.name), least.name)
			}
		}
	}
	return nil
}

// checkZones compares the zones. As long as every adapter is eligible, nothing but the scheduler can make them uneven.
func checkZones(v vpod, s state) error {
	zones := map[string]int{}
	for _, a := range s.adapters {
		if !eligible(a, v, s) {
			return nil
		}
		zones[a.zone] += v.count(a.name)
	}
	counts := slices.Sorted(maps.Values(zones))
	if len(counts) > 0 && counts[len(counts)-1]-counts[0] > 1 {
		return fmt.Errorf("%s has %d vreplicas in one zone and %d in another, which has room",
			v.name, counts[len(counts)-1], counts[0])
	}
	return nil
}

// checkPublished holds if the status says where everything is. Adapters and their nodes have the same names here.
func checkPublished(v vpod) error {
	if !v.current {
		return fmt.Errorf("the status of %s is about an older spec", v.name)
	}
	counts := map[string]int{}
	for _, p := range v.pods {
		if p.adapter != "" {
			counts[p.adapter]++
		}
	}
	if !maps.Equal(counts, v.published) {
		return fmt.Errorf("%s is placed as %v, and its status says %v", v.name, counts, v.published)
	}
	return nil
}

// checkWaiting holds if nobody waits who could be placed.
func checkWaiting(v vpod, s state) error {
	if v.waiting() == 0 {
		return nil
	}
	for _, a := range s.adapters {
		if eligible(a, v, s) {
			return fmt.Errorf("%d vreplicas of %s wait although %s has room", v.waiting(), v.name, a.name)
		}
	}
	return nil
}

// checkStayed holds if what was placed before is where it was, and if nothing came to an adapter that is cordoned.
func checkStayed(before, after state) error {
	for _, v := range after.vpods {
		for _, p := range v.pods {
			was := before.placeOf(p)
			if was != "" && p.adapter != was {
				return fmt.Errorf("a vreplica of %s moved from %s to %s", v.name, was, p.adapter)
			}
			if was == "" && after.cordoned(p.adapter) {
				return fmt.Errorf("a vreplica of %s came to %s, which is cordoned", v.name, p.adapter)
			}
		}
	}
	return nil
}

// placeOf is the adapter that the placeholder is on in this state; empty if it waits or does not exist.
func (s state) placeOf(p placeholder) string {
	for _, v := range s.vpods {
		for _, mine := range v.pods {
			if mine.uid == p.uid {
				return mine.adapter
			}
		}
	}
	return ""
}

func (s state) cordoned(adapter string) bool {
	for _, a := range s.adapters {
		if a.name == adapter {
			return a.cordoned
		}
	}
	return false
}

// checkNumberWaiting holds if exactly those wait for which there was no room. It may add up the vpods only because no
// limit binds in this story: a limited vpod never asks for more than its adapters hold.
func checkNumberWaiting(before, after state) error {
	room := 0
	for _, a := range before.adapters {
		if !after.cordoned(a.name) {
			room += before.free(a)
		}
	}
	asked, waiting := 0, 0
	for _, v := range after.vpods {
		waiting += v.waiting()
		for _, p := range v.pods {
			if before.placeOf(p) == "" {
				asked++
			}
		}
	}
	if want := max(0, asked-room); waiting != want {
		return fmt.Errorf("%d vreplicas wait, but %d were to be placed and there was room for %d, so %d should wait",
			waiting, asked, room, want)
	}
	return nil
}
