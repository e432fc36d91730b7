package integration

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/labtest"
)

// full is why a vreplica waits that finds no room on so many adapters.
func full(adapters int) string { return fmt.Sprintf("%d adapter(s) at full capacity", adapters) }

// Parts of a refusal that depend on what else is in the cluster or that the scheduler adds of itself.
var (
	ofAllNodes   = regexp.MustCompile(`^0/\d+ nodes are available: `)
	outsidePool  = regexp.MustCompile(`(^|, )\d+ node\(s\) didn't satisfy plugin\(s\) \[[^\]]*\]`)
	onPreemption = regexp.MustCompile(`\. preemption: .*$`)
)

// words are a refusal without what it says of nodes outside of the pool, and of preemption.
func words(refusal string) string {
	for _, part := range []*regexp.Regexp{ofAllNodes, onPreemption, outsidePool} {
		refusal = part.ReplaceAllString(refusal, "")
	}
	return strings.TrimPrefix(refusal, ", ")
}

// refusedFor waits until a vpod is placed so far, and so many more vreplicas are refused in just these words.
func (p *pool) refusedFor(v lab.VPod, wantSpread string, wantRefused int, want string) []corev1.Pod {
	p.t.Helper()
	refused := p.settled(v, wantSpread, wantRefused)
	for _, pod := range refused {
		p.saysOf(&pod, want)
	}
	return refused
}

// saysOf waits until the scheduler says in just these words why a pod waits.
func (p *pool) saysOf(pod *corev1.Pod, want string) {
	p.t.Helper()
	p.until(labtest.TimeLimit(p.t), pod.Name, "refused with "+want, func(pod *corev1.Pod) bool {
		return pod.Spec.NodeName == "" && words(lab.Reason(pod)) == want
	})
}

// described waits until kubectl describe shows a user why a pod waits.
func (p *pool) described(pod, want string) {
	p.t.Helper()
	err := lab.Wait(labtest.TimeLimit(p.t), "kubectl describe tells the reason", func(ctx context.Context) error {
		text, err := p.Kubectl(ctx, "describe", "pod", "--namespace", p.name, pod)
		if err != nil {
			return err
		}
		for line := range strings.Lines(text) {
			if strings.Contains(line, "FailedScheduling") && strings.Contains(line, want) {
				return nil
			}
		}
		return fmt.Errorf("no event FailedScheduling says %q in\n%s", want, text)
	})
	if err != nil {
		p.t.Fatal(err)
	}
}
