package placement_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vpod.dev/vpod-scheduler/pkg/placement"
)

func TestFit(t *testing.T) {
	tests := map[string]struct {
		fit              placement.Fit
		wantOK, wantEver bool
	}{
		"1 of 3 free >= 1":                   {fit: placement.Fit{Capacity: 3, Free: 1, Requested: 1}, wantOK: true, wantEver: true},
		"0 of 3 free < 1, capacity 3 >= 1":   {fit: placement.Fit{Capacity: 3, Free: 0, Requested: 1}, wantEver: true},
		"-2 of 3 free < 1, capacity 3 >= 1":  {fit: placement.Fit{Capacity: 3, Free: -2, Requested: 1}, wantEver: true},
		"1 of 3 free < 2, capacity 3 >= 2":   {fit: placement.Fit{Capacity: 3, Free: 1, Requested: 2}, wantEver: true},
		"3 of 3 free >= 3, capacity 3 >= 3":  {fit: placement.Fit{Capacity: 3, Free: 3, Requested: 3}, wantOK: true, wantEver: true},
		"3 of 3 free < 4, capacity 3 < 4":    {fit: placement.Fit{Capacity: 3, Free: 3, Requested: 4}},
		"capacity 0 < 1":                     {fit: placement.Fit{Requested: 1}},
		"0 free >= 0":                        {fit: placement.Fit{}, wantOK: true, wantEver: true},
		"-1 free < 0, an overcommitted 3":    {fit: placement.Fit{Capacity: 3, Free: -1}, wantEver: true},
		"capacity lowered to 1 with 2 there": {fit: placement.Fit{Capacity: 1, Free: -1, Requested: 1}, wantEver: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.fit.OK(); got != tc.wantOK {
				t.Errorf("OK: %t, want %t", got, tc.wantOK)
			}
			if got := tc.fit.Possible(); got != tc.wantEver {
				t.Errorf("Possible: %t, want %t", got, tc.wantEver)
			}
		})
	}
}

func TestLimit(t *testing.T) {
	tests := map[string]struct {
		limit  placement.Limit
		wantOK bool
	}{
		"0+1 <= 1":                     {limit: placement.Limit{Used: 0, Limit: 1}, wantOK: true},
		"1+1 > 1":                      {limit: placement.Limit{Used: 1, Limit: 1}},
		"1+0 <= 1, serves already":     {limit: placement.Limit{Used: 1, Limit: 1, Serves: true}, wantOK: true},
		"2+1 <= 3":                     {limit: placement.Limit{Used: 2, Limit: 3}, wantOK: true},
		"3+1 > 3":                      {limit: placement.Limit{Used: 3, Limit: 3}},
		"3+1 > 2, limit lowered":       {limit: placement.Limit{Used: 3, Limit: 2}},
		"3+0 > 2, but adds no adapter": {limit: placement.Limit{Used: 3, Limit: 2, Serves: true}, wantOK: true},
		"5000 used, limit 0 is none":   {limit: placement.Limit{Used: 5000}, wantOK: true},
		"5000+1 <= 2147483647":         {limit: placement.Limit{Used: 5000, Limit: 2147483647}, wantOK: true},
		"2147483646+1 <= 2147483647":   {limit: placement.Limit{Used: 2147483646, Limit: 2147483647}, wantOK: true},
		"2147483647+1 > 2147483647":    {limit: placement.Limit{Used: 2147483647, Limit: 2147483647}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.limit.OK(); got != tc.wantOK {
				t.Errorf("OK: %t, want %t", got, tc.wantOK)
			}
		})
	}
}

func TestSkew(t *testing.T) {
	tests := map[string]struct {
		skew   placement.Skew
		wantOK bool
	}{
		"0+1-0 <= 1":             {skew: placement.Skew{Count: 0, Min: 0, MaxSkew: 1}, wantOK: true},
		"1+1-0 > 1":              {skew: placement.Skew{Count: 1, Min: 0, MaxSkew: 1}},
		"1+1-1 <= 1":             {skew: placement.Skew{Count: 1, Min: 1, MaxSkew: 1}, wantOK: true},
		"1+1-0 <= 2":             {skew: placement.Skew{Count: 1, Min: 0, MaxSkew: 2}, wantOK: true},
		"2+1-0 > 2":              {skew: placement.Skew{Count: 2, Min: 0, MaxSkew: 2}},
		"5+1-0 > 2, ahead":       {skew: placement.Skew{Count: 5, Min: 0, MaxSkew: 2}},
		"0+1-5 <= 2, far behind": {skew: placement.Skew{Count: 0, Min: 5, MaxSkew: 2}, wantOK: true},
		"1000+1-1 <= 1000":       {skew: placement.Skew{Count: 1000, Min: 1, MaxSkew: 1000}, wantOK: true},
		"1000+1-0 > 1000":        {skew: placement.Skew{Count: 1000, Min: 0, MaxSkew: 1000}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.skew.OK(); got != tc.wantOK {
				t.Errorf("OK: %t, want %t", got, tc.wantOK)
			}
		})
	}
}

func TestDomainsOK(t *testing.T) {
	tests := map[string]struct {
		domains placement.Domains
		wantOK  bool
	}{
		"0 open >= 0": {domains: placement.Domains{}, wantOK: true},
		"0 open < 1":  {domains: placement.Domains{Min: 1}},
		"2 open < 3":  {domains: placement.Domains{Open: 2, Min: 3}},
		"3 open >= 3": {domains: placement.Domains{Open: 3, Min: 3}, wantOK: true},
		"4 open >= 3": {domains: placement.Domains{Open: 4, Min: 3}, wantOK: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.domains.OK(); got != tc.wantOK {
				t.Errorf("OK: %t, want %t", got, tc.wantOK)
			}
		})
	}
}

// Which adapters make a domain count, and which make it hold the minimum.
func TestDomainsAndMinimum(t *testing.T) {
	const full, room = 2, 9
	tests := map[string]struct {
		adapters []adapter
		limit    int
		// wantOpen and wantMin are by zone.
		wantOpen, wantMin int
	}{
		"2/1/0 all with room: min(2,1,0)":        {adapters: []adapter{on("z1", room, 2), on("z2", room, 1), on("z3", room, 0)}, wantOpen: 3, wantMin: 0},
		"2/1/0, z3 capacity 0: min(2,1)":         {adapters: []adapter{on("z1", room, 2), on("z2", room, 1), on("z3", 0, 0)}, wantOpen: 3, wantMin: 1},
		"3/3/2, z3 full with some: min(3,3)":     {adapters: []adapter{on("z1", room, 3), on("z2", room, 3), on("z3", full, 2)}, wantOpen: 3, wantMin: 3},
		"2/1/0, z3 cordoned: min(2,1)":           {adapters: []adapter{on("z1", room, 2), on("z2", room, 1), cordoned(on("z3", room, 0))}, wantOpen: 2, wantMin: 1},
		"2/1/0, z3 tainted: min(2,1)":            {adapters: []adapter{on("z1", room, 2), on("z2", room, 1), tainted(on("z3", room, 0))}, wantOpen: 2, wantMin: 1},
		"2/1/0 limit 2: min(2,1)":                {adapters: []adapter{on("z1", room, 2), on("z2", room, 1), on("z3", room, 0)}, limit: 2, wantOpen: 3, wantMin: 1},
		"2/1/0 limit 3: min(2,1,0)":              {adapters: []adapter{on("z1", room, 2), on("z2", room, 1), on("z3", room, 0)}, limit: 3, wantOpen: 3, wantMin: 0},
		"1+4/2, the cordoned 1 counts: min(5,2)": {adapters: []adapter{on("z1", room, 4), cordoned(on("z1", room, 1)), on("z2", room, 2)}, wantOpen: 2, wantMin: 2},
		"1+4/7, the cordoned 1 counts: min(5,7)": {adapters: []adapter{on("z1", room, 4), cordoned(on("z1", room, 1)), on("z2", room, 7)}, wantOpen: 2, wantMin: 5},
		"no zone twice and z1: one zone and z1":  {adapters: []adapter{on("", room, 2), on("", room, 1), on("z1", room, 4)}, wantOpen: 2, wantMin: 3},
		"all full: no minimum, a-0 is its own":   {adapters: []adapter{on("z1", full, 2), on("z2", 1, 1)}, wantOpen: 2, wantMin: 2},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := numbered(tc.adapters)
			built := build(p)
			tallied := tally(p, built, request{vpod: "x", size: 1, limit: tc.limit})
			slot, _ := built.Slot("a-0")
			if diff := cmp.Diff(placement.Domains{Open: tc.wantOpen, Min: 1}, tallied.Domains(placement.ByZone, 1)); diff != "" {
				t.Errorf("zones (-want +got):\n%s", diff)
			}
			if got := tallied.Skew(slot, placement.ByZone, 1).Min; got != tc.wantMin {
				t.Errorf("minimum %d, want %d", got, tc.wantMin)
			}
		})
	}
}
