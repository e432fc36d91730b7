package plugins_test

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"vpod.dev/vpod-scheduler/pkg/plugins"
)

// G10: wrong arguments stop the scheduler at its start, and the error names the plugin, the field and the value.
func TestG10_WrongArgumentsAreRefused(t *testing.T) {
	type refusal struct{ args, want string }
	typed := func(field, kind string) []refusal {
		return []refusal{
			{`{` + field + `: [1]}`, field + `: Invalid value: [1]: must be ` + kind},
			{`{` + field + `: true}`, field + `: Invalid value: true: must be ` + kind},
		}
	}
	number := func(field string, least int) []refusal {
		return append(typed(field, "a whole number up to 2147483647"),
			refusal{`{` + field + `: x}`, field + `: Invalid value: "x": must be a whole number up to 2147483647`},
			refusal{`{` + field + `: 1.5}`, field + `: Invalid value: 1.5: must be a whole number up to 2147483647`},
			refusal{`{` + field + `: 99999999999}`, field + `: Invalid value: 99999999999: must be a whole number up to 2147483647`},
			refusal{fmt.Sprintf(`{%s: %d}`, field, least-1), fmt.Sprintf(`%s: Invalid value: %d: must be at least %d`, field, least-1, least)},
			refusal{fmt.Sprintf(`{%s: -7}`, field), fmt.Sprintf(`%s: Invalid value: -7: must be at least %d`, field, least)},
		)
	}
	unknown := func(field string) []refusal {
		return []refusal{{`{` + field + `: 1}`, `unknown field "` + field + `"`}}
	}
	action := append(typed("whenUnsatisfiable", "a string"),
		refusal{`{whenUnsatisfiable: Never}`, `whenUnsatisfiable: Unsupported value: "Never": supported values: "DoNotSchedule", "ScheduleAnyway"`},
		refusal{`{whenUnsatisfiable: donotschedule}`, `whenUnsatisfiable: Unsupported value: "donotschedule"`},
		refusal{`{whenUnsatisfiable: ""}`, `whenUnsatisfiable: Unsupported value: ""`},
	)
	join := func(lists ...[]refusal) (all []refusal) {
		for _, list := range lists {
			all = append(all, list...)
		}
		return append(all, refusal{`[1]`, `args: Invalid value: [1]: must be a map of fields`}, refusal{`{a: `, `yaml`})
	}
	for plugin, refusals := range map[string][]refusal{
		"EvenPodSpread":            join(number("maxSkew", 1), action, unknown("minDomains"), unknown("maxSkw"), unknown("MaxSkew"), []refusal{{`{maxSkew: 1, maxSkew: 2}`, `key "maxSkew" already set`}}),
		"AvailabilityZonePriority": join(number("maxSkew", 1), number("minDomains", 0), action, unknown("mindomains")),
		"AvailabilityNodePriority": join(number("maxSkew", 1), number("minDomains", 0), action, unknown("minNodes")),
		"NoMaxResourceCount":       join(number("numPartitions", 1), unknown("numPartition")),
		"PodFitsResources": join(typed("resourceName", "a string"), unknown("resource"), []refusal{
			{`{resourceName: ""}`, `resourceName: Invalid value: ""`},
			{`{resourceName: "a b"}`, `resourceName: Invalid value: "a b"`},
		}),
		"LowestOrdinalPriority": join(unknown("maxSkew")),
		"MaxFillUp":             join(unknown("maxSkew")),
		"Contenders":            join(unknown("max")),
	} {
		for _, r := range refusals {
			t.Run(plugin+" "+r.args, func(t *testing.T) {
				_, err := build(t, plugin, []byte(r.args))
				if err == nil {
					t.Fatal("accepted")
				}
				for _, want := range []string{"reading the arguments of plugin " + plugin + ": ", r.want} {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("the error lacks %q: %v", want, err)
					}
				}
				if strings.Contains(err.Error(), "\n") {
					t.Errorf("the error is more than a line: %q", err)
				}
			})
		}
	}
}

func TestGoodArgumentsAreAccepted(t *testing.T) {
	for plugin, args := range map[string]string{
		"EvenPodSpread":            `{apiVersion: kubescheduler.config.k8s.io/v1, kind: EvenPodSpreadArgs, maxSkew: 2, whenUnsatisfiable: ScheduleAnyway}`,
		"AvailabilityZonePriority": `{minDomains: 3}`,
		"AvailabilityNodePriority": `{}`,
		"NoMaxResourceCount":       `{"numPartitions": 7}`,
		"PodFitsResources":         `{resourceName: example.com/units}`,
		"LowestOrdinalPriority":    ``,
		"MaxFillUp":                `null`,
	} {
		if _, err := build(t, plugin, []byte(args)); err != nil {
			t.Errorf("%s %s: %v", plugin, args, err)
		}
	}
}

// The arguments of one plugin reach the rules that all share.
func TestArgumentsReachTheRules(t *testing.T) {
	c := newCluster(t, enable(t, map[string]any{
		"NoMaxResourceCount": map[string]any{"numPartitions": 1},
		"PodFitsResources":   map[string]any{"resourceName": "example.com/units"},
	}, "Contenders", "PodFitsResources", "NoMaxResourceCount", "EvenPodSpread*1", "LowestOrdinalPriority*1"))
	units := map[v1.ResourceName]string{"example.com/units": "3"}
	for i := range 3 {
		c.addNode(adapter(fmt.Sprint("a-", i), i, "", "", 0).Capacity(units))
	}
	vreplica := func() *v1.Pod {
		return c.vreplica("x").Containers(nil).Req(map[v1.ResourceName]string{"example.com/units": "1"}).Obj()
	}
	for n, want := range []string{"a-0", "a-0", "a-0", ""} {
		if got := c.place(vreplica()); got != want {
			t.Errorf("vreplica %d is on %q, want %q: one adapter is the limit", n, got, want)
		}
	}
}

// build makes a plugin as the scheduler does, from the raw arguments of a configuration.
func build(t testing.TB, plugin string, args []byte) (fwk.Plugin, error) {
	var obj runtime.Object
	if len(args) > 0 {
		obj = &runtime.Unknown{Raw: args, ContentType: runtime.ContentTypeYAML}
	}
	return plugins.All()[plugin](t.Context(), obj, profileHandle{})
}

// profileHandle is the part of a framework that plugins need when they are made.
type profileHandle struct{ framework.Framework }

func (profileHandle) ProfileName() string { return "test" }
