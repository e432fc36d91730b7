package vpod

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// memory is what is remembered of a VPod from one reconcile to the next. To lose it costs a request or a status write
// more, and nothing else.
type memory struct {
	uid  types.UID
	pace pace
	held int
	// lacking, once lost, has what can be moved nowhere be given up later.
	lacking time.Time
	// tried, once lost, has one more tried in vain.
	tried time.Time
	// shrinks, once lost, has a surplus evicted that was to be deleted, if its adapters are draining.
	shrinks           bool
	refusal, eviction *refusal
}

// memories hold the memory of each VPod. A VPod is reconciled by one worker at a time, which alone uses its memory.
type memories struct {
	mu    sync.Mutex
	byKey map[types.NamespacedName]*memory
}

// of returns the memory of a VPod; another VPod that had its name is forgotten.
func (m *memories) of(vpod *v1alpha1.VPod) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := client.ObjectKeyFromObject(vpod)
	if known := m.byKey[key]; known != nil && known.uid == vpod.UID {
		return known
	}
	if m.byKey == nil {
		m.byKey = map[types.NamespacedName]*memory{}
	}
	m.byKey[key] = &memory{uid: vpod.UID}
	return m.byKey[key]
}

func (m *memories) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.byKey, key)
}
