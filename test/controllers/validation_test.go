package controllers

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"vpod.dev/vpod-scheduler/pkg/apis/v1alpha1"
	"vpod.dev/vpod-scheduler/test/labtest"
)

const (
	goodPool = `
apiVersion: vpod.dev/v1alpha1
kind: AdapterPool
metadata: {name: NAME}
spec:
  statefulSetRef: {namespace: kafka, name: dispatcher}
  capacity: 10
  evictionTimeout: 1s
  autoscaling:
    mode: "Off"
    minReplicas: 0
    maxReplicas: 10000
    scaleDownDelay: 0s
    scaleUpUnit: Zones
  descheduling:
    rebalance: {mode: "On", evictionsPerMinute: 60}
    priorities:
      - {name: RemoveWithAvailabilityZonePriority, weight: 100000000}
      - {name: RemoveWithAvailabilityNodePriority, weight: 101}
      - {name: RemoveWithEvenPodSpreadPriority, weight: 1}
      - {name: RemoveWithHighestOrdinalPriority, weight: 1}
`
	goodVPod = `
apiVersion: vpod.dev/v1alpha1
kind: VPod
metadata: {name: NAME, namespace: default}
spec:
  replicas: 0
  poolName: no-such-pool
  maxAdapters: 1
  schedulerName: vpod-scheduler
  priorityClassName: high
`
)

// wrong is one line of a manifest, and what is said of it.
type wrong struct {
	line, instead string
	// path is in the refusal, with the kind of mistake, and why says more.
	path, why string
}

const (
	invalid, required, tooLong = ": Invalid value: ", ": Required value", ": Too long: "

	min0, min1     = "greater than or equal to 0", "greater than or equal to 1"
	nonempty       = "at least 1 chars long"
	integer        = "must be of type integer"
	atLeastASecond = "a duration of at least 1s, such as 90s or 5m"
	priorities     = "spec.descheduling.priorities"
	autoscaling    = "spec.autoscaling"
	rebalance      = "spec.descheduling.rebalance"
	unsupported    = ": Unsupported value: "
)

var wrongPools = map[string]wrong{
	"capacity 0":                {"capacity: 10", "capacity: 0", "spec.capacity" + invalid + "0", min1},
	"capacity -1":               {"capacity: 10", "capacity: -1", "spec.capacity" + invalid + "-1", min1},
	"capacity too high":         {"capacity: 10", "capacity: 1000001", "spec.capacity" + invalid + "1000001", "less than or equal to 1000000"},
	"capacity of text":          {"capacity: 10", `capacity: "10"`, "spec.capacity" + invalid, integer},
	"half a vreplica":           {"capacity: 10", "capacity: 1.5", "spec.capacity" + invalid, integer},
	"no capacity":               {"  capacity: 10\n", "", "spec.capacity" + required, ""},
	"no StatefulSet":            {"  statefulSetRef: {namespace: kafka, name: dispatcher}\n", "", "spec.statefulSetRef" + required, ""},
	"no namespace":              {"namespace: kafka, ", "", "spec.statefulSetRef.namespace" + required, ""},
	"an empty namespace":        {"namespace: kafka", `namespace: ""`, "spec.statefulSetRef.namespace" + invalid, nonempty},
	"too long a namespace":      {"namespace: kafka", "namespace: " + long(64), "spec.statefulSetRef.namespace" + tooLong, "more than 63"},
	"no name":                   {", name: dispatcher", "", "spec.statefulSetRef.name" + required, ""},
	"an empty name":             {"name: dispatcher", `name: ""`, "spec.statefulSetRef.name" + invalid, nonempty},
	"too long a name":           {"name: dispatcher", "name: " + long(254), "spec.statefulSetRef.name" + tooLong, "more than 253"},
	"no time":                   {"evictionTimeout: 1s", "evictionTimeout: 0s", "spec.evictionTimeout" + invalid, atLeastASecond},
	"too little time":           {"evictionTimeout: 1s", "evictionTimeout: 999ms", "spec.evictionTimeout" + invalid, atLeastASecond},
	"negative time":             {"evictionTimeout: 1s", "evictionTimeout: -5m", "spec.evictionTimeout" + invalid, atLeastASecond},
	"no duration":               {"evictionTimeout: 1s", "evictionTimeout: x", "spec.evictionTimeout" + invalid, atLeastASecond},
	"a time without its unit":   {"evictionTimeout: 1s", "evictionTimeout: 300", "spec.evictionTimeout" + invalid, "must be of type string"},
	"too long a time":           {"evictionTimeout: 1s", "evictionTimeout: 1h" + strings.Repeat("0", 31) + "s", "spec.evictionTimeout" + tooLong, "more than 32"},
	"an unknown priority":       {"RemoveWithEvenPodSpreadPriority", "RemoveAny", `spec.descheduling.priorities[2].name: Unsupported value: "RemoveAny": supported values: `, ""},
	"a priority without name":   {"name: RemoveWithEvenPodSpreadPriority, ", "", priorities + "[2].name: Required value", ""},
	"a duplicate priority":      {"RemoveWithEvenPodSpreadPriority", "RemoveWithAvailabilityZonePriority", priorities + "[2]: Duplicate value: ", ""},
	"weight 0":                  {"weight: 101", "weight: 0", priorities + "[1].weight: Invalid value: 0: ", min1},
	"weight too high":           {"weight: 101", "weight: 100000001", priorities + "[1].weight: Invalid value: ", "less than or equal to 100000000"},
	"no weight":                 {", weight: 101", "", priorities + "[1].weight: Required value", ""},
	"five priorities":           {"    priorities:\n", "    priorities:\n      - {name: RemoveWithAvailabilityZonePriority, weight: 1}\n", "spec.descheduling.priorities: Too many: 5: ", ""},
	"the pool's name too long":  {"name: NAME", "name: " + long(64), "metadata.name: at most 63 characters", ""},
	"min above max":             {"minReplicas: 0\n    maxReplicas: 10000", "minReplicas: 10\n    maxReplicas: 9", autoscaling + ".minReplicas" + invalid, "must not be above maxReplicas"},
	"max below the default min": {"    minReplicas: 0\n    maxReplicas: 10000", "    maxReplicas: 0", autoscaling + ".maxReplicas" + invalid + "0", min1},
	"min -1":                    {"minReplicas: 0", "minReplicas: -1", autoscaling + ".minReplicas" + invalid + "-1", min0},
	"max too high":              {"maxReplicas: 10000", "maxReplicas: 10001", autoscaling + ".maxReplicas" + invalid + "10001", "less than or equal to 10000"},
	"no max":                    {"    maxReplicas: 10000\n", "", autoscaling + ".maxReplicas" + required, ""},
	"an unknown mode":           {`mode: "Off"`, "mode: Sometimes", autoscaling + ".mode" + unsupported + `"Sometimes"`, `"Auto", "Off"`},
	"a bare Off":                {`mode: "Off"`, "mode: Off", autoscaling + ".mode" + invalid, "must be of type string"},
	"a negative delay":          {"scaleDownDelay: 0s", "scaleDownDelay: -1s", autoscaling + ".scaleDownDelay" + invalid, "a duration that is not negative"},
	"an unknown unit":           {"scaleUpUnit: Zones", "scaleUpUnit: Racks", autoscaling + ".scaleUpUnit" + unsupported + `"Racks"`, `"None", "Zones", "Nodes"`},
	"an unknown rebalancing":    {`mode: "On"`, "mode: Always", rebalance + ".mode" + unsupported + `"Always"`, `"Off", "On"`},
	"no evictions":              {"evictionsPerMinute: 60", "evictionsPerMinute: 0", rebalance + ".evictionsPerMinute" + invalid + "0", min1},
	"too many evictions":        {"evictionsPerMinute: 60", "evictionsPerMinute: 61", rebalance + ".evictionsPerMinute" + invalid, "less than or equal to 60"},
	"an unknown field":          {"capacity: 10", "capacity: 10\n  capasity: 10", `unknown field "spec.capasity"`, ""},
	"an unknown field below":    {"name: dispatcher", "name: dispatcher, kind: x", `unknown field "spec.statefulSetRef.kind"`, ""},
}

var wrongVPods = map[string]wrong{
	"replicas -1":               {"replicas: 0", "replicas: -1", "spec.replicas" + invalid + "-1", min0},
	"too many replicas":         {"replicas: 0", "replicas: 100001", "spec.replicas" + invalid + "100001", "less than or equal to 100000"},
	"replicas of text":          {"replicas: 0", `replicas: "3"`, "spec.replicas" + invalid, integer},
	"no pool":                   {"  poolName: no-such-pool\n", "", "spec.poolName" + required, ""},
	"an empty pool":             {"poolName: no-such-pool", `poolName: ""`, "spec.poolName" + invalid, nonempty},
	"too long a pool":           {"poolName: no-such-pool", "poolName: " + long(64), "spec.poolName" + tooLong, "more than 63"},
	"limit 0":                   {"maxAdapters: 1", "maxAdapters: 0", "spec.maxAdapters" + invalid + "0", min1},
	"limit -1":                  {"maxAdapters: 1", "maxAdapters: -1", "spec.maxAdapters" + invalid + "-1", min1},
	"limit over 32 bits":        {"maxAdapters: 1", "maxAdapters: 2147483648", "must be of type integer with format int32 in spec.maxAdapters", ""},
	"limit of text":             {"maxAdapters: 1", "maxAdapters: many", "spec.maxAdapters" + invalid, integer},
	"kube-scheduler":            {"schedulerName: vpod-scheduler", "schedulerName: default-scheduler", "spec.schedulerName" + invalid, "does not keep the rules of placement"},
	"an empty scheduler":        {"schedulerName: vpod-scheduler", `schedulerName: ""`, "spec.schedulerName" + invalid, nonempty},
	"too long a scheduler":      {"schedulerName: vpod-scheduler", "schedulerName: " + long(254), "spec.schedulerName" + tooLong, "more than 253"},
	"too long a priority class": {"priorityClassName: high", "priorityClassName: " + long(254), "spec.priorityClassName" + tooLong, "more than 253"},
	"the name too long":         {"name: NAME", "name: " + long(64), "metadata.name: at most 63 characters", ""},
	"an unknown field":          {"replicas: 0", "replicas: 0\n  replcas: 3", `unknown field "spec.replcas"`, ""},
}

func long(n int) string { return strings.Repeat("a", n) }

// manifest reads an object, with the name that the test has for it.
func manifest(t *testing.T, text, name string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.UnmarshalStrict([]byte(strings.Replace(text, "NAME", name, 1)), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

func TestG10_EachWrongFieldIsRefusedWithItsPath(t *testing.T) {
	t.Parallel()
	s := sharedStage(t)
	name := labtest.Name(t)
	for kind, tc := range map[string]struct {
		good  string
		wrong map[string]wrong
	}{
		v1alpha1.KindAdapterPool: {goodPool, wrongPools},
		v1alpha1.KindVPod:        {goodVPod, wrongVPods},
	} {
		create := func(t *testing.T, text string) error {
			return s.Objects().Create(t.Context(), manifest(t, text, name), client.DryRunAll, client.FieldValidation("Strict"))
		}
		if err := create(t, tc.good); err != nil {
			t.Errorf("a good %s is refused: %v", kind, err)
		}
		for what, w := range tc.wrong {
			t.Run(kind+"/"+what, func(t *testing.T) {
				if strings.Count(tc.good, w.line) != 1 {
					t.Fatalf("%q is %d times in the manifest", w.line, strings.Count(tc.good, w.line))
				}
				saysAll(t, create(t, strings.Replace(tc.good, w.line, w.instead, 1)), w.path, w.why)
			})
		}
	}
}

// saysAll fails the test unless a request is refused with all of these words.
func saysAll(t *testing.T, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("it is not refused")
	}
	for _, words := range want {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("it is refused with %q, want %q", err, words)
		}
	}
}

func TestG10_WhatCannotBeChangedIsRefusedWithItsPath(t *testing.T) {
	t.Parallel()
	s := sharedStage(t)
	objects, name := s.Objects(), labtest.Name(t)
	pool, vpod := manifest(t, goodPool, name), manifest(t, goodVPod, name)
	for _, o := range []client.Object{pool, vpod} {
		if err := objects.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	const toPool, toVPod = "cannot be changed; create another AdapterPool", "cannot be changed; create another VPod"
	saysAll(t, toPatch(pool, `{"spec":{"statefulSetRef":{"name":"other"}}}`)(t.Context(), objects), "spec.statefulSetRef"+invalid, toPool)
	saysAll(t, toPatch(pool, `{"spec":{"statefulSetRef":{"namespace":"other"}}}`)(t.Context(), objects), "spec.statefulSetRef"+invalid, toPool)
	saysAll(t, toPatch(pool, `{"spec":null}`)(t.Context(), objects), "spec"+required)
	saysAll(t, toPatch(vpod, `{"spec":{"poolName":"other"}}`)(t.Context(), objects), "spec.poolName"+invalid, toVPod)
	saysAll(t, toPatch(vpod, `{"spec":null}`)(t.Context(), objects), "spec"+required)
	saysAll(t, toScale(vpod, -1)(t.Context(), objects), "spec.replicas"+invalid+"-1")
	for o, change := range map[*unstructured.Unstructured]string{
		pool: `{"spec":{"capacity":11,"evictionTimeout":null,"autoscaling":null,"descheduling":null}}`,
		vpod: `{"spec":{"replicas":null,"maxAdapters":null,"schedulerName":"other","priorityClassName":null}}`,
	} {
		if err := toPatch(o, change)(t.Context(), objects); err != nil {
			t.Errorf("%s is refused: %v", change, err)
		}
	}
}

func TestExplainHasATextForFields(t *testing.T) {
	t.Parallel()
	s := sharedStage(t)
	for field, want := range map[string]string{
		"vpod.spec.maxAdapters":          "number of partitions of its topic",
		"vpod.status.placements.podName": "Name of the adapter",
		"adapterpool.spec.capacity":      "one adapter has room for",
		"adapterpool.status.waiting":     "wait for an adapter",
		"adapterpool.spec.autoscaling":   "shrinks after a delay",
	} {
		text, err := s.Kubectl(t.Context(), "explain", field)
		if err != nil || !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("explain %s says %q, %v; want %q", field, text, err, want)
		}
	}
}
