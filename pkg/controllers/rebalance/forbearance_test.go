package rebalance

import (
	"testing"
	"time"
)

// What others do or fail to do holds up a pool for five minutes, not for ever.
func TestG7_OneUnsettledVPodDoesNotHoldUpOthersForEver(t *testing.T) {
	s := poolOf("-", "-").serves("y", "4/0").serves("x", "1/0", placedBy("nobody")).waits("x", 1)
	_, m := decide(*s, rested(), noon)
	for after, want := range map[time.Duration]string{
		time.Minute: "after 4m0s", 5 * time.Minute: "y-vreplica-3 from a-0 to a-1",
	} {
		if p, _ := decide(*s, m, noon.Add(after)); p.String() != want {
			t.Errorf("after %v the plan is %q, want %q", after, p, want)
		}
	}
	// Once nothing waits, the time starts anew.
	settled := poolOf("-", "-").serves("y", "4/0").serves("x", "1/1", placedBy("nobody"))
	_, m = decide(*settled, m, noon.Add(time.Minute))
	if p, _ := decide(*s, m, noon.Add(5*time.Minute)); p.begin != nil {
		t.Errorf("the plan is %q, want none", p)
	}
}

// Where one VPod after the other changes, each for a moment, there is never a look at which nothing is unsettled.
func TestG7_ManyThatComeAndGoDoNotHoldUpOthersForEver(t *testing.T) {
	busy := []*state{
		poolOf("-", "-").serves("y", "4/0").serves("x", "1/0").waits("x", 1).serves("z", "1/0"),
		poolOf("-", "-").serves("y", "4/0").serves("x", "1/0").serves("z", "1/0").waits("z", 1),
	}
	m := rested()
	for at := time.Duration(0); at <= forbearance; at += time.Second {
		var p plan
		p, m = decide(*busy[int(at/time.Second)%2], m, noon.Add(at))
		if isDue := at == forbearance; (p.begin != nil) != isDue {
			t.Fatalf("after %v the plan is %q", at, p)
		}
	}
}
