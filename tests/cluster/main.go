// Command kubenode is every Kubernetes component that a one-node test cluster
// needs, in one program: the first argument chooses the component. Called by
// the name kubectl (a symbolic link), it is kubectl.
//
// The components are the upstream code, unchanged. They share one binary
// because they share nearly all of their code: six separate binaries take three
// times as long to link and five times the room in a cache.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"

	// What the upstream main packages register: the JSON log format, and the
	// client and version metrics.
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
)

var components = map[string]func() *cobra.Command{
	"etcd":                    etcdCommand,
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": controllers.NewControllerManagerCommand,
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	"kube-proxy":              proxy.NewProxyCommand,
	// The kubelet installs its own signal handling and panics on a context that
	// already has one.
	"kubelet": func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) },
	"kubectl": func() *cobra.Command { return kubectl.NewDefaultKubectlCommand() },
}

func main() {
	args := os.Args
	if filepath.Base(args[0]) != "kubectl" {
		if len(args) < 2 {
			fmt.Fprintln(os.Stderr, "usage: kubenode COMPONENT [flags]")
			os.Exit(2)
		}
		args = args[1:]
	}
	name := filepath.Base(args[0])
	component, known := components[name]
	if !known {
		fmt.Fprintf(os.Stderr, "kubenode: there is no component %q\n", name)
		os.Exit(2)
	}
	// The commands read os.Args themselves, kubectl for its plug-ins too.
	os.Args = append([]string{name}, args[1:]...)
	os.Exit(cli.Run(component()))
}
