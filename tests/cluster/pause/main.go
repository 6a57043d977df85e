// Command pause holds namespaces open. It is the sandbox image of the test
// cluster's pods, and, as `pause hold FOLDER`, the first process of the node
// itself: the folder only marks whose it is. `pause exit N` ends at once with
// status N, so that the image serves as the smallest pod that runs to an end.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
)

func main() {
	arguments := os.Args[1:]
	switch {
	case len(arguments) == 0, len(arguments) == 2 && arguments[0] == "hold":
		hold()
	case len(arguments) == 2 && arguments[0] == "exit":
		if code, err := strconv.ParseUint(arguments[1], 10, 7); err == nil {
			os.Exit(int(code))
		}
		usage()
	default:
		usage()
	}
}

func usage() {
	fmt.Fprintln(os.Stderr, "usage: pause [hold FOLDER | exit CODE]   (CODE: 0 to 127)")
	os.Exit(2)
}

// hold waits for a request to end. As process 1 of a namespace it is the parent
// of whatever lost its own, and collects what has ended.
func hold() {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGCHLD)
	for received := range signals {
		if received != syscall.SIGCHLD {
			return
		}
		reap()
	}
}

func reap() {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if err != nil || pid <= 0 {
			return
		}
	}
}
