package node

import (
	"testing"
	"time"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
)

// Each reason alone, and the one that is named where several apply.
func TestCordonReasons(t *testing.T) {
	for name, tc := range map[string]struct {
		edits []func(*state)
		want  string
	}{
		"in use":                             {},
		"started, not ready (C53)":           {edits: []func(*state){podNotReady(time.Second)}},
		"being replaced, still on its host":  {edits: []func(*state){podLeaving}},
		"pool gone":                          {edits: []func(*state){noPool}, want: v1alpha1.CordonRemoved},
		"pool being deleted":                 {edits: []func(*state){poolLeaving}, want: v1alpha1.CordonRemoved},
		"another pool has the StatefulSet":   {edits: []func(*state){notHolder}, want: v1alpha1.CordonRemoved},
		"StatefulSet gone":                   {edits: []func(*state){noSet}, want: v1alpha1.CordonRemoved},
		"StatefulSet being deleted":          {edits: []func(*state){setLeaving}, want: v1alpha1.CordonRemoved},
		"scaled down, pod still runs":        {edits: []func(*state){scaledDown}, want: v1alpha1.CordonRemoved},
		"draining":                           {edits: []func(*state){draining}, want: v1alpha1.CordonDraining},
		"not draining any more":              {edits: []func(*state){draining, autoscalingOff}},
		"draining before marked":             {edits: []func(*state){draining, podMarked}, want: v1alpha1.CordonDraining},
		"draining before lost":               {edits: []func(*state){draining, podNotReady(time.Hour)}, want: v1alpha1.CordonDraining},
		"removed before draining":            {edits: []func(*state){draining, scaledDown}, want: v1alpha1.CordonRemoved},
		"marked":                             {edits: []func(*state){podMarked}, want: v1alpha1.CordonMarked},
		"pod missing":                        {edits: []func(*state){noPod}, want: v1alpha1.CordonNoHost},
		"pod waits for a host":               {edits: []func(*state){podWaits}, want: v1alpha1.CordonNoHost},
		"pod of somebody else":               {edits: []func(*state){podForeign}, want: v1alpha1.CordonNoHost},
		"pod not adopted yet":                {edits: []func(*state){podOrphaned}, want: v1alpha1.CordonNoHost},
		"host cordoned":                      {edits: []func(*state){hostCordoned}, want: v1alpha1.CordonHostCordoned},
		"host gone":                          {edits: []func(*state){noHost}, want: v1alpha1.CordonHostNotReady},
		"host does not answer":               {edits: []func(*state){hostUnknown}, want: v1alpha1.CordonHostNotReady},
		"host tainted as unreachable":        {edits: []func(*state){hostTainted}, want: v1alpha1.CordonHostNotReady},
		"not ready for too long":             {edits: []func(*state){podNotReady(time.Hour)}, want: v1alpha1.CordonLost},
		"not ready, and all others as well":  {edits: []func(*state){podNotReady(time.Hour), noneReady}, want: v1alpha1.CordonLost},
		"removed before marked":              {edits: []func(*state){scaledDown, podMarked}, want: v1alpha1.CordonRemoved},
		"marked before without host":         {edits: []func(*state){podWaits, podMarked}, want: v1alpha1.CordonMarked},
		"without host before lost":           {edits: []func(*state){noPod, nodeNotReady(time.Hour)}, want: v1alpha1.CordonNoHost},
		"host cordoned before not ready":     {edits: []func(*state){hostCordoned, hostUnknown}, want: v1alpha1.CordonHostCordoned},
		"host not ready before adapter lost": {edits: []func(*state){hostUnknown, podNotReady(time.Hour)}, want: v1alpha1.CordonHostNotReady},
	} {
		t.Run(name, func(t *testing.T) {
			node := decide(settled(tc.edits...), "v1", now).node
			if got := node.Annotations[v1alpha1.AnnotationCordon]; got != tc.want || node.Spec.Unschedulable != (tc.want != "") {
				t.Errorf("cordoned: %v because of %q, want %q", node.Spec.Unschedulable, got, tc.want)
			}
		})
	}
}

func TestCordonsOfPeopleAndOurs(t *testing.T) {
	ours := func(reason string) func(*state) {
		return func(s *state) {
			s.node.Spec.Unschedulable = true
			s.node.Annotations = map[string]string{v1alpha1.AnnotationCordon: reason}
		}
	}
	persons := func(s *state) { s.node.Spec.Unschedulable = true }
	uncordoned := func(s *state) { s.node.Spec.Unschedulable = false }
	for name, tc := range map[string]struct {
		edits        []func(*state)
		wantCordoned bool
		wantReason   string
	}{
		"a person's stays":                        {edits: []func(*state){persons}, wantCordoned: true},
		"a person's stays theirs beside a reason": {edits: []func(*state){persons, hostCordoned}, wantCordoned: true},
		"a person's stays theirs in a drain":      {edits: []func(*state){persons, draining}, wantCordoned: true},
		"a drain that ends":                       {edits: []func(*state){ours(v1alpha1.CordonDraining)}},
		"a drain that leaves another reason":      {edits: []func(*state){ours(v1alpha1.CordonDraining), podMarked}, wantCordoned: true, wantReason: v1alpha1.CordonMarked},
		"ours ends with its reason":               {edits: []func(*state){ours(v1alpha1.CordonHostCordoned)}},
		"ours goes on":                            {edits: []func(*state){ours(v1alpha1.CordonHostCordoned), hostCordoned}, wantCordoned: true, wantReason: v1alpha1.CordonHostCordoned},
		"ours for another reason":                 {edits: []func(*state){ours(v1alpha1.CordonNoHost), hostCordoned}, wantCordoned: true, wantReason: v1alpha1.CordonHostCordoned},
		"undone by a person too early":            {edits: []func(*state){ours(v1alpha1.CordonHostCordoned), uncordoned, hostCordoned}, wantCordoned: true, wantReason: v1alpha1.CordonHostCordoned},
		"undone by a person":                      {edits: []func(*state){ours(v1alpha1.CordonHostCordoned), uncordoned}},
	} {
		t.Run(name, func(t *testing.T) {
			node := decide(settled(tc.edits...), "v1", now).node
			reason, annotated := node.Annotations[v1alpha1.AnnotationCordon]
			if node.Spec.Unschedulable != tc.wantCordoned || reason != tc.wantReason || annotated != (tc.wantReason != "") {
				t.Errorf("cordoned %v, annotated %v with %q, want %v and %q",
					node.Spec.Unschedulable, annotated, reason, tc.wantCordoned, tc.wantReason)
			}
		})
	}
}

// Which adapters have a node, and which lose their vreplicas at once.
func TestFateOfNodeAndVReplicas(t *testing.T) {
	for name, tc := range map[string]struct {
		edits    []func(*state)
		wantNode bool
		wantMove string
	}{
		"in use":                                  {wantNode: true},
		"in use, empty":                           {edits: []func(*state){empty}, wantNode: true},
		"new":                                     {edits: []func(*state){noNode, empty}, wantNode: true},
		"new, waits for a host (C9)":              {edits: []func(*state){noNode, empty, podWaits}},
		"new, no pod yet":                         {edits: []func(*state){noNode, empty, noPod}},
		"node deleted, adapter runs (C47)":        {edits: []func(*state){noNode}, wantNode: true},
		"node deleted, adapter restarts":          {edits: []func(*state){noNode, noPod}, wantNode: true},
		"adapter restarts":                        {edits: []func(*state){noPod}, wantNode: true},
		"adapter restarts, empty":                 {edits: []func(*state){noPod, empty}, wantNode: true},
		"without host for too long, empty":        {edits: []func(*state){podWaits, empty, nodeNotReady(time.Hour)}},
		"without host for too long, finished pod": {edits: []func(*state){podWaits, finished, nodeNotReady(time.Hour)}},
		"without host for too long, vreplicas":    {edits: []func(*state){podWaits, nodeNotReady(time.Hour), noneReady}, wantNode: true},
		"scaled down (C48)":                       {edits: []func(*state){scaledDown}, wantNode: true, wantMove: v1alpha1.CordonRemoved},
		"scaled down, pod gone":                   {edits: []func(*state){scaledDown, noPod}, wantNode: true, wantMove: v1alpha1.CordonRemoved},
		"scaled down, empty":                      {edits: []func(*state){scaledDown, empty}},
		"scaled down, only a finished pod":        {edits: []func(*state){scaledDown, finished}, wantMove: v1alpha1.CordonRemoved},
		"scaled down, node gone (C48)":            {edits: []func(*state){scaledDown, noNode}, wantMove: v1alpha1.CordonRemoved},
		"scaled down, no other is ready":          {edits: []func(*state){scaledDown, noneReady}, wantNode: true, wantMove: v1alpha1.CordonRemoved},
		"draining moves nothing itself":           {edits: []func(*state){draining}, wantNode: true},
		"draining and lost":                       {edits: []func(*state){draining, podNotReady(time.Hour)}, wantNode: true, wantMove: v1alpha1.CordonLost},
		"pool gone":                               {edits: []func(*state){noPool}, wantNode: true, wantMove: v1alpha1.CordonRemoved},
		"pool gone, empty":                        {edits: []func(*state){noPool, empty}},
		"pool gone, node gone":                    {edits: []func(*state){noPool, noNode}, wantMove: v1alpha1.CordonRemoved},
		"pool being deleted":                      {edits: []func(*state){poolLeaving}, wantNode: true},
		"pool being deleted, empty":               {edits: []func(*state){poolLeaving, empty}},
		"pool being deleted, node gone":           {edits: []func(*state){poolLeaving, noNode}, wantNode: true},
		"pool being deleted, lost":                {edits: []func(*state){poolLeaving, podNotReady(time.Hour)}, wantNode: true},
		"pool being deleted, scaled down":         {edits: []func(*state){poolLeaving, scaledDown}, wantNode: true, wantMove: v1alpha1.CordonRemoved},
		"another pool has the StatefulSet":        {edits: []func(*state){notHolder}, wantNode: true},
		"another pool has it, empty":              {edits: []func(*state){notHolder, empty}},
		"another pool has it, no node":            {edits: []func(*state){notHolder, empty, noNode}},
		"StatefulSet gone, pods too":              {edits: []func(*state){noSet, noPod}, wantNode: true, wantMove: v1alpha1.CordonRemoved},
		"StatefulSet gone, pods going":            {edits: []func(*state){noSet, podLeaving}, wantNode: true, wantMove: v1alpha1.CordonRemoved},
		"StatefulSet being deleted, pods going":   {edits: []func(*state){setLeaving, podLeaving}, wantNode: true, wantMove: v1alpha1.CordonRemoved},
		"StatefulSet replaced without its pods":   {edits: []func(*state){setLeaving}, wantNode: true},
		"StatefulSet gone, pods left behind":      {edits: []func(*state){noSet, podOrphaned}, wantNode: true},
		"same, empty":                             {edits: []func(*state){noSet, podOrphaned, empty}, wantNode: true},
		"StatefulSet new, pod not adopted yet":    {edits: []func(*state){podOrphaned}, wantNode: true},
		"StatefulSet gone, pod of somebody else":  {edits: []func(*state){noSet, podForeign}, wantNode: true, wantMove: v1alpha1.CordonRemoved},
		"name taken by a pod of somebody else":    {edits: []func(*state){podForeign}, wantNode: true},
		"same, new":                               {edits: []func(*state){podForeign, noNode, empty}},
	} {
		t.Run(name, func(t *testing.T) {
			got := decide(settled(tc.edits...), "v1", now)
			if (got.node != nil) != tc.wantNode {
				t.Errorf("node: %v, want %v", got.node != nil, tc.wantNode)
			}
			because := ""
			if len(got.move) > 0 {
				because = got.because
			}
			if because != tc.wantMove {
				t.Errorf("moves %d because of %q, want %q", len(got.move), because, tc.wantMove)
			}
		})
	}
}

// While there is no node, a placeholder of another pool is not ours to delete.
func TestStrandedPlaceholderOfAnotherPool(t *testing.T) {
	s := settled(noPool, noNode, func(s *state) { s.bound[0].Labels = map[string]string{v1alpha1.LabelPool: "other"} })
	if got := decide(s, "v1", now); got.move != nil || got.node != nil {
		t.Errorf("decided on %+v, want nothing", got)
	}
}

func TestNodeIsNotOwnedByAPoolThatIsBeingDeleted(t *testing.T) {
	if node := decide(settled(poolLeaving, noNode), "v1", now).node; len(node.OwnerReferences) > 0 {
		t.Errorf("a node made anew is owned by %v: deletion in the foreground would delete it again", node.OwnerReferences)
	}
	if node := decide(settled(poolLeaving), "v1", now).node; len(node.OwnerReferences) != 1 {
		t.Errorf("the node lost its owner: %v", node.OwnerReferences)
	}
}

func TestVersionOfTheNodeIsOurs(t *testing.T) {
	if got := decide(settled(), "v2", now).node.Status.NodeInfo.KubeletVersion; got != "vpod-v2" {
		t.Errorf("version %s, want vpod-v2", got)
	}
}
