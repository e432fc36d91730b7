package main

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

func TestG10_WrongFlagsAreRefusedByName(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want []string
	}{
		"defaults":         {},
		"no metrics":       {args: []string{"--metrics-bind-address=0"}},
		"rate":             {args: []string{"--kube-api-qps=0", "--kube-api-burst=0"}, want: []string{"--kube-api-qps: Invalid value: 0: must be above 0", "--kube-api-burst: Invalid value: 0: must be at least 1"}},
		"heartbeats":       {args: []string{"--heartbeat-interval=500ms"}, want: []string{`--heartbeat-interval: Invalid value: "500ms": must be at least 1s`}},
		"drains":           {args: []string{"--drain-patience=0s"}, want: []string{`--drain-patience: Invalid value: "0s": must be at least 1s`}},
		"addresses":        {args: []string{"--health-probe-bind-address=8081"}, want: []string{`--health-probe-bind-address: Invalid value: "8081": must be host:port, :port, or 0 for none`}},
		"renewal":          {args: []string{"--leader-elect-renew-deadline=20s"}, want: []string{`--leader-elect-lease-duration: Invalid value: "15s": must be above --leader-elect-renew-deadline`}},
		"retries":          {args: []string{"--leader-elect-retry-period=9s"}, want: []string{`--leader-elect-renew-deadline: Invalid value: "10s": must be above 1.2 times --leader-elect-retry-period`}},
		"no leader at all": {args: []string{"--leader-elect=false", "--leader-elect-retry-period=0s"}},
	} {
		t.Run(name, func(t *testing.T) {
			o, flags := newOptions(), pflag.NewFlagSet("", pflag.ContinueOnError)
			o.addFlags(flags)
			if err := flags.Parse(tc.args); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, err := range o.validate() {
				got = append(got, err.Error())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("refused (-want +got):\n%s", diff)
			}
		})
	}
}

func TestG10_UnknownFlagsAndArgumentsAreRefused(t *testing.T) {
	for name, tc := range map[string]struct{ arg, want string }{
		"flag":     {"--heartbeats=1s", "unknown flag: --heartbeats"},
		"argument": {"start", `unknown command "start"`},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := command(t.Context())
			cmd.SetArgs([]string{tc.arg})
			cmd.SetOut(io.Discard)
			cmd.SetErr(io.Discard)
			if err := cmd.Execute(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestVersionIsPrinted(t *testing.T) {
	var out strings.Builder
	cmd := command(t.Context())
	cmd.SetArgs([]string{"--version"})
	cmd.SetOut(&out)
	if err := cmd.Execute(); err != nil || out.String() != "vpod-controller "+version+"\n" {
		t.Errorf("printed %q, error %v", out.String(), err)
	}
}
