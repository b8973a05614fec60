package main

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// newRegistry gives the metrics of the process: Go, the operating system and
// the build.
func newRegistry() *prometheus.Registry {
	b := readBuild()
	info := prometheus.NewGauge(prometheus.GaugeOpts{Name: "retry_planner_build_info", Help: "Always 1; the labels tell the build.",
		ConstLabels: prometheus.Labels{"version": b.version, "revision": b.revision, "go_version": b.goVersion}})
	info.Set(1)
	r := prometheus.NewRegistry()
	r.MustRegister(info, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}
