package vpod

import (
	"regexp"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
)

// backoff says when the API server is asked again for what it refused: after first, then after twice as long each time, up to
// most. What it refuses for, such as a ResourceQuota or a PodDisruptionBudget, is not watched.
type backoff struct{ first, most time.Duration }

var (
	ofCreation = backoff{first: time.Second, most: 20 * time.Second}
	// A PodDisruptionBudget notices a little late that a replacement is ready.
	ofEviction = backoff{first: 250 * time.Millisecond, most: time.Minute}
)

// refusal is the API server's answer to the creation or the eviction of a placeholder. It is kept in memory: a controller that
// has just started asks again.
type refusal struct {
	// message is the API server's, for the tenant.
	message string
	// quota: there are as many placeholders as a ResourceQuota allows, and no more.
	quota bool
	// generation is that of the VPod, and alive the number of its placeholders: with another spec, or fewer, the answer may
	// be another.
	generation int64
	alive      int
	// since is when the API server began to refuse.
	since time.Time
	pause time.Duration
	until time.Time
	// told: there was an event of it.
	told bool
}

// after is the refusal that follows r, or the first if r is nil. It takes over the pause.
func (r *refusal) after(err error, b backoff, now time.Time) *refusal {
	next := &refusal{
		message: err.Error(),
		quota:   apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota") && !isOverdrawn(err.Error()),
		since:   now,
		pause:   b.first,
	}
	if r != nil {
		next.pause, next.since, next.told = min(2*r.pause, b.most), r.since, r.told
	}
	next.until = now.Add(next.pause)
	return next
}

// usage is what the API server says of a ResourceQuota.
var usage = regexp.MustCompile(`used: (\S+), limited: (\S+)`)

// isOverdrawn says whether more is there than a ResourceQuota allows, because it was lowered: whoever goes cannot come back.
func isOverdrawn(message string) bool {
	found := usage.FindStringSubmatch(message)
	if found == nil {
		return false
	}
	limits := amounts(found[2])
	for name, used := range amounts(found[1]) {
		if limit, limited := limits[name]; limited && used.Cmp(limit) > 0 {
			return true
		}
	}
	return false
}

// amounts reads a list such as "pods=1,requests.vpod.dev/vreplicas=1".
func amounts(list string) map[string]resource.Quantity {
	all := map[string]resource.Quantity{}
	for item := range strings.SplitSeq(list, ",") {
		name, amount, _ := strings.Cut(item, "=")
		if q, err := resource.ParseQuantity(amount); err == nil {
			all[name] = q
		}
	}
	return all
}

// lasts says whether the API server refuses something, and has for so long.
func (r *refusal) lasts(d time.Duration, now time.Time) bool {
	return r != nil && now.Sub(r.since) >= d
}

// holds says whether to wait before it is asked again.
func (r *refusal) holds(now time.Time) bool { return r != nil && now.Before(r.until) }

// ends is how long to wait; 0 is not at all.
func (r *refusal) ends(now time.Time) time.Duration {
	if !r.holds(now) {
		return 0
	}
	return r.until.Sub(now)
}

// refusedError is an answer to a creation that will be the same for a while, in contrast to a failure to answer.
type refusedError struct{ error }

func (e *refusedError) Unwrap() error { return e.error }
