package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/embed"
)

// etcdCommand is a single-member store on the default loopback ports.
func etcdCommand() *cobra.Command {
	var directory string
	command := &cobra.Command{
		Use:          "etcd",
		SilenceUsage: true,
		RunE: func(*cobra.Command, []string) error {
			config := embed.NewConfig()
			config.Dir = directory
			config.LogLevel = "warn"
			// The store lives as long as one test run. What a power cut would
			// lose is of no interest, and an fsync per write is most of the
			// time that an API request takes.
			config.UnsafeNoFsync = true
			store, err := embed.StartEtcd(config)
			if err != nil {
				return err
			}
			defer store.Close()

			stop := make(chan os.Signal, 1)
			signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
			select {
			case <-stop:
				return nil
			case err := <-store.Err():
				return err
			}
		},
	}
	command.Flags().StringVar(&directory, "data-dir", "", "folder of the store")
	if err := command.MarkFlagRequired("data-dir"); err != nil {
		panic(err) // the flag is defined on the line above
	}
	return command
}
