package snapshot

import (
	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/pkg/placement"
)

// Profiles holds what the plugins of each scheduler profile share. Plugins are made before the first cycle, and write
// to it only then.
type Profiles struct {
	byName map[string]*Profile
	caches map[v1.ResourceName]*Cache
}

// Profile is what the plugins of one profile share.
type Profile struct {
	// Resource is what the profile counts as vreplicas.
	Resource v1.ResourceName
	// Limited says whether a rule of the profile limits the adapters of a vpod, and DefaultLimit to how many where
	// the pod does not say; 0 is no limit.
	Limited      bool
	DefaultLimit int
	// Rules are the hard rules of the profile about spread.
	Rules placement.Rules

	profiles *Profiles
	handle   fwk.Handle
}

// NewProfiles returns an empty set for one scheduler.
func NewProfiles() *Profiles {
	return &Profiles{byName: map[string]*Profile{}, caches: map[v1.ResourceName]*Cache{}}
}

// Get returns the profile that a framework runs.
func (s *Profiles) Get(handle fwk.Handle) *Profile {
	name := handle.ProfileName()
	p := s.byName[name]
	if p == nil {
		p = &Profile{Resource: v1alpha1.ResourceVReplicas, profiles: s, handle: handle}
		s.byName[name] = p
	}
	return p
}

// cache returns the cache that all profiles of the same resource share.
func (p *Profile) cache() *Cache {
	c := p.profiles.caches[p.Resource]
	if c == nil {
		c = NewCache(p.Resource)
		p.profiles.caches[p.Resource] = c
	}
	return c
}

// limit is the most adapters that a vreplica's vpod may use in this profile; 0 is no limit.
func (p *Profile) limit(v Vreplica) int {
	switch {
	case !p.Limited:
		return 0
	case v.Limit != 0:
		return v.Limit
	default:
		return p.DefaultLimit
	}
}
