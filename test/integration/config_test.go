package integration

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	configv1 "k8s.io/kube-scheduler/config/v1"
)

// program is the real binary.
const program = "../../bin/vpod-scheduler"

// run runs the program until it ends, and returns what it printed.
func run(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err = cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("it still runs:\n%s", errOut.String())
	}
	return out.String(), errOut.String(), err
}

// unreachable is access to an API server that does not exist: a configuration is judged before anyone is asked.
const unreachable = `apiVersion: v1
kind: Config
clusters: [{name: none, cluster: {server: "https://127.0.0.1:1"}}]
contexts: [{name: none, context: {cluster: none}}]
current-context: none
`

// refusal runs the program with a configuration file and returns the line that says why it does not start.
func refusal(t *testing.T, config string) string {
	t.Helper()
	_, stderr, err := run(t, "--config="+config, "--secure-port=0")
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() == 0 {
		t.Fatalf("it ended with %v, want an exit code other than 0:\n%s", err, stderr)
	}
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	if last := lines[len(lines)-1]; strings.Count(stderr, "command failed") == 1 && strings.Contains(last, "command failed") {
		return last
	}
	t.Fatalf("want one line that says why it does not start, the last, got:\n%s", stderr)
	return ""
}

func kubeconfig(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte(unreachable), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// One of each kind; the tests of the plugins have all fields.
func TestG10_WrongArgumentsStopTheSchedulerAtStart(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		arguments
		// want are parts of the line: the field, and the value.
		want []string
	}{
		"too small":              {arguments{"EvenPodSpread", `{"maxSkew": 0}`}, []string{"maxSkew: Invalid value: 0"}},
		"negative":               {arguments{"AvailabilityNodePriority", `{"minDomains": -1}`}, []string{"minDomains: Invalid value: -1"}},
		"zero for no limit":      {arguments{"NoMaxResourceCount", `{"numPartitions": 0}`}, []string{"numPartitions: Invalid value: 0"}},
		"a text for a number":    {arguments{"AvailabilityZonePriority", `{"maxSkew": "two"}`}, []string{"maxSkew: Invalid value", "two"}},
		"a fraction":             {arguments{"NoMaxResourceCount", `{"numPartitions": 1.5}`}, []string{"numPartitions: Invalid value: 1.5"}},
		"beyond 32 bits":         {arguments{"EvenPodSpread", `{"maxSkew": 3000000000}`}, []string{"maxSkew: Invalid value: 3000000000"}},
		"a list for a text":      {arguments{"PodFitsResources", `{"resourceName": ["cpu"]}`}, []string{"resourceName: Invalid value", "cpu"}},
		"a malformed name":       {arguments{"PodFitsResources", `{"resourceName": "a b"}`}, []string{"resourceName: Invalid value", "a b"}},
		"another word":           {arguments{"EvenPodSpread", `{"whenUnsatisfiable": "Never"}`}, []string{"whenUnsatisfiable: Unsupported value", "Never", "ScheduleAnyway"}},
		"a misspelt field":       {arguments{"EvenPodSpread", `{"maxSkw": 1}`}, []string{`unknown field \"maxSkw\"`}},
		"wrong capitals":         {arguments{"EvenPodSpread", `{"maxskew": 1}`}, []string{`unknown field \"maxskew\"`}},
		"another plugin's field": {arguments{"EvenPodSpread", `{"minDomains": 1}`}, []string{`unknown field \"minDomains\"`}},
		"no fields at all":       {arguments{"MaxFillUp", `{"weight": 1}`}, []string{`unknown field \"weight\"`}},
		"the same for others":    {arguments{"LowestOrdinalPriority", `{"x": 1}`}, []string{`unknown field \"x\"`}},
		"nor for Contenders":     {arguments{"Contenders", `{"x": 1}`}, []string{`unknown field \"x\"`}},
		"a list":                 {arguments{"EvenPodSpread", `[1]`}, []string{"args: Invalid value"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := shippedConfig(t, map[string][]arguments{"wrong": {tc.arguments}})
			if tc.plugin == "MaxFillUp" {
				config.Profiles[0].Plugins.MultiPoint.Enabled = append(config.Profiles[0].Plugins.MultiPoint.Enabled, configv1.Plugin{Name: tc.plugin})
			}
			config.ClientConnection.Kubeconfig = kubeconfig(t)
			line := refusal(t, configFile(t, config))
			for _, part := range append(tc.want, tc.plugin, "profiles[0].pluginConfig[0].args: ") {
				if !strings.Contains(line, part) {
					t.Errorf("it says nothing of %q:\n%s", part, line)
				}
			}
		})
	}
}

func TestG10_WrongConfigurationStopsTheSchedulerAtStart(t *testing.T) {
	t.Parallel()
	head := "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n" +
		"clientConnection: {kubeconfig: " + kubeconfig(t) + "}\n"
	for name, tc := range map[string]struct {
		text, want string
	}{
		"malformed YAML":    {head + "profiles: [", "yaml: line 4"},
		"an unknown field":  {head + "profile: []", `unknown field \"profile\"`},
		"an unknown kind":   {"apiVersion: v1\nkind: Pod\n", `no kind \"Pod\"`},
		"an unknown plugin": {head + "profiles: [{schedulerName: x, plugins: {multiPoint: {enabled: [{name: EvenPodSpreading}]}}}]", "EvenPodSpreading"},
		"an empty file":     {"", "Kind"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "config.yaml")
			if err := os.WriteFile(path, []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if line := refusal(t, path); !strings.Contains(line, tc.want) {
				t.Errorf("it says nothing of %q:\n%s", tc.want, line)
			}
		})
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	stdout, stderr, err := run(t, "--version")
	if want := regexp.MustCompile(`^vpod-scheduler v\S+ \(Kubernetes v1\.\d+\.\d+\)\n$`); err != nil || !want.MatchString(stdout) {
		t.Errorf("got %q, %q and %v, want a line like %s", stdout, stderr, err, want)
	}
}

// The shared scheduler runs without --config. It looks at pods in the order in which they come.
func TestWithoutConfigPodsOfTheDefaultSchedulerStayUntouched(t *testing.T) {
	t.Parallel()
	p := sharedPool(t, zones(1, "z1")...)
	// It would pass all our rules, but asks for no vreplica: admission refuses what does.
	stock := p.vpod("stock")
	stock.SchedulerName = corev1.DefaultSchedulerName
	pods := append(p.grow(stock, 1, asksFor("1m")), p.grow(p.vpod("plain"), 1, plain)...)
	x := p.vpod("x")
	p.grow(x, 1)
	p.settled(x, "1", 0)
	for _, before := range pods {
		after, err := p.Client().CoreV1().Pods(p.name).Get(t.Context(), before.Name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if after.ResourceVersion != before.ResourceVersion {
			t.Errorf("somebody wrote to %s: %v", after.Name, after)
		}
	}
}
