// Command vpod-lab runs the lab for people: a control plane of real parts with simulated hosts, a StatefulSet of adapters,
// and our scheduler and controller.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"vpod.dev/vpod-scheduler/test/lab"
	"vpod.dev/vpod-scheduler/test/lab/demo"
)

const usage = `Usage: vpod-lab [demo] [flags]

Without arguments it starts the lab and keeps it until Ctrl-C. With "demo" it tells a story in a lab of its own, and
ends with status 1 if what it shows is not what the scheduler promises.

`

// startTimeout is for a machine that is busy with something else: a lab takes seconds.
const startTimeout = 3 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil && ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "vpod-lab:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("vpod-lab", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), usage)
		flags.PrintDefaults()
	}
	var options lab.SchedulerOptions
	flags.StringVar(&options.Config, "config", "", "configuration `file` of the scheduler, instead of the one it ships with")
	flags.IntVar(&options.Verbosity, "v", 0, "`verbosity` of the scheduler's log")

	play := stay
	if len(args) > 0 && args[0] == "demo" {
		play, args = demo.Run, args[1:]
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q; see vpod-lab -help", flags.Arg(0))
	}
	fmt.Fprintln(os.Stderr, "vpod-lab: starting the control plane, the hosts, the scheduler and the controller")
	l, err := start(ctx, options)
	if err != nil {
		return err
	}
	defer l.Stop()
	return play(ctx, l, out)
}

// start brings up everything: the lab, schedulers and controller, the hosts and the adapters.
func start(ctx context.Context, options lab.SchedulerOptions) (*lab.Lab, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	l, err := lab.Start(ctx, lab.Options{Controllers: lab.AllControllers, Kwok: true, NodeGrace: demo.NodeGrace})
	if err != nil {
		return nil, err
	}
	if err := demo.Start(ctx, l, options); err != nil {
		l.Stop()
		return nil, err
	}
	return l, nil
}
