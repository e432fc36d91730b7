package placement

import "fmt"

// Reason is why vreplicas cannot be moved.
type Reason int

const (
	// NoRoom: no adapter that is kept and open has room.
	NoRoom Reason = iota
	// AtLimit: those that have room are not used by the vpod, and it may use no further ones.
	AtLimit
	// Refused: the hard rules let none of those that have room take another one.
	Refused
	// NoTenant: the vpod is not among the tenants, so nobody moves its vreplicas.
	NoTenant
)

// Stuck is some vreplicas of a vpod that find no place.
type Stuck struct {
	VPod VPod
	// Adapter has the first of them; Vreplicas is how many there are in all.
	Adapter   string
	Vreplicas int
	Reason    Reason
	// Kept is how many adapters are kept and open, and Room what is free on them once all before are placed.
	Kept int
	Room int64
	// Used is how many adapters the vpod uses, Limit the most that it may use.
	Used, Limit int
}

// String says why in the words of a condition.
func (s Stuck) String() string {
	v := s.VPod
	head := fmt.Sprintf("%s of %s %s/%s, the first on %s", inVreplicas(int64(s.Vreplicas)),
		v.Kind, v.Namespace, v.Name, s.Adapter)
	switch s.Reason {
	case NoRoom:
		return fmt.Sprintf("%s: no room on %s", head, inKept(s.Kept))
	case AtLimit:
		return fmt.Sprintf("%s: uses %s of at most %d, and the room for %d is on others",
			head, inAdapters(s.Used), s.Limit, s.Room)
	case Refused:
		return fmt.Sprintf("%s: there is room for %d on %s, but its rules allow none of them", head, s.Room, inKept(s.Kept))
	}
	return head + ": controlled by no VPod, so nothing moves them"
}

// inAdapters and inKept are numbers with their units.
func inAdapters(n int) string {
	if n == 1 {
		return "1 adapter"
	}
	return fmt.Sprintf("%d adapters", n)
}

func inKept(n int) string {
	if n == 1 {
		return "the 1 open adapter kept"
	}
	return fmt.Sprintf("the %d open adapters kept", n)
}

// stuck says why Choose finds no adapter.
func (t *Tally) stuck(open func(slot int) bool) Stuck {
	s := Stuck{VPod: t.VPod, Used: t.used, Limit: t.Limit, Reason: Refused}
	s.Kept, s.Room = t.pool.room(open)
	switch {
	case s.Room == 0:
		s.Reason = NoRoom
	case t.Eligible() == 0:
		s.Reason = AtLimit
	}
	return s
}
