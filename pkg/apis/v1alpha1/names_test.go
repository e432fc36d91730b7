package v1alpha1

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
)

func TestHostLabelIsALabelAndUnique(t *testing.T) {
	long := strings.Repeat("node.", 50)
	seen := map[string]string{}
	for _, node := range []string{"host", strings.Repeat("a", 63), strings.Repeat("a", 64), long + "a", long + "b"} {
		label := HostLabel(node)
		if faults := validation.IsValidLabelValue(label); faults != nil {
			t.Errorf("the label of %s is %s: %v", node, label, faults)
		}
		if len(node) <= 63 && label != node {
			t.Errorf("the label of %s is %s", node, label)
		}
		if other, taken := seen[label]; taken {
			t.Errorf("%s and %s have the same label %s", node, other, label)
		}
		seen[label] = node
	}
}
