package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-analyze/charts"

	"n8n-retry-planner/cmd/retry-planner/herd"
)

// Size of the picture, pixels: one panel for each policy, one under the other.
const (
	pictureWidth = 1000
	panelHeight  = 170
	headHeight   = 64
	// panelPoints is the most points of a panel's line: a longer time is drawn
	// by the peaks of its parts.
	panelPoints = 450
)

// pictureFormat tells the format by the file's name, "" for one that cannot be
// drawn.
func pictureFormat(name string) string {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".svg":
		return charts.ChartOutputSVG
	case ".png":
		return charts.ChartOutputPNG
	}
	return ""
}

// drawArrivals draws the calls that arrived in each second, one panel for each
// policy. All panels have the same scales, so that they can be compared.
func drawArrivals(name string, w *herd.World, results []herd.Result) error {
	seconds, top := 0, w.Upstream.Limit
	for _, r := range results {
		seconds = max(seconds, len(r.Arrivals))
		top = max(top, r.PeakBack, r.PeakOutage)
	}
	axis := scaleOf(seconds)
	painter := charts.NewPainter(charts.PainterOptions{
		OutputFormat: pictureFormat(name), Width: pictureWidth, Height: headHeight + panelHeight*len(results),
	})
	painter.FilledRect(0, 0, painter.Width(), painter.Height(), charts.ColorWhite, charts.ColorWhite, 0)
	painter.Text(fmt.Sprintf("%d executions over %d workers: calls that arrive each second", w.Executions, w.Workers),
		24, 30, 0, charts.FontStyle{FontSize: 15, FontColor: charts.ColorBlack})
	outage := time.Duration(w.Upstream.Outage * float64(time.Second))
	painter.Text(fmt.Sprintf("The API is down for the first %s (red), then allows %d calls in %s (blue).", outage, w.Upstream.Limit,
		time.Duration(w.Upstream.Window*float64(time.Second))), 24, 52, 0, charts.FontStyle{FontSize: 11, FontColor: charts.ColorRGB(90, 90, 105)})
	for i, r := range results {
		panel := painter.Child(charts.PainterBoxOption(charts.NewBox(12, headHeight+i*panelHeight, pictureWidth-12, headHeight+(i+1)*panelHeight)))
		if err := panel.LineChart(panelOf(&r, axis, float64(top), w.Upstream.Outage)); err != nil {
			return fmt.Errorf("draw the picture: %w", err)
		}
	}
	picture, err := painter.Bytes()
	if err != nil {
		return fmt.Errorf("draw the picture: %w", err)
	}
	return os.WriteFile(name, picture, 0o644)
}

// scale is the time axis that all panels share.
type scale struct{ step, points, ticks int }

// ticks are the distances of the axis' labels, seconds.
var ticks = []int{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 43200, 86400}

// scaleOf gives an axis for so many seconds, whose labels fall on whole ticks.
func scaleOf(seconds int) scale {
	tick := ticks[len(ticks)-1]
	for _, t := range ticks {
		if seconds <= maxTicks*t {
			tick = t
			break
		}
	}
	count := (seconds + tick - 1) / tick
	step := max(1, tick*count/panelPoints)
	for tick%step != 0 {
		step++
	}
	return scale{step: step, points: count*tick/step + 1, ticks: count + 1}
}

const maxTicks = 12

func panelOf(r *herd.Result, axis scale, top, outage float64) charts.LineChartOption {
	values, labels := [2][]float64{}, make([]string, 0, axis.points)
	for n := range axis.points {
		from := n * axis.step
		peak, series := 0.0, 0
		if from < len(r.Arrivals) {
			peak = float64(slices.Max(r.Arrivals[from:min(from+axis.step, len(r.Arrivals))]))
		}
		if float64(from) >= outage {
			series = 1
		}
		values[series], values[1-series] = append(values[series], peak), append(values[1-series], 0)
		labels = append(labels, clock(from))
	}
	o := charts.NewLineChartOptionWithData(values[:])
	o.Title = charts.TitleOption{Offset: charts.OffsetLeft, FontStyle: charts.FontStyle{FontSize: 11},
		Text: fmt.Sprintf("%s: at most %d a second once back, %d calls wasted, %d lost, all done after %s",
			r.Name, r.PeakBack, r.Wasted, r.Lost, clock(int(math.Round(r.Done))))}
	o.Legend.Show = charts.Ptr(false)
	o.Symbol.Shape = charts.SymbolNone
	o.LineStrokeWidth = 1.4
	o.FillArea = charts.Ptr(true)
	o.FillOpacity = 70
	o.Theme = charts.GetTheme(charts.ThemeLight).WithSeriesColors([]charts.Color{inOutage, onceBack})
	o.XAxis.Labels = labels
	o.XAxis.LabelCount = axis.ticks
	o.YAxis[0].Min, o.YAxis[0].Max = charts.Ptr(0.0), charts.Ptr(top)
	o.YAxis[0].LabelCount = 4
	o.YAxis[0].ValueFormatter = func(f float64) string { return fmt.Sprintf("%.0f", f) }
	return o
}

// The colours of the calls in the outage and of those once the API is back.
var (
	inOutage = charts.ColorRGB(190, 60, 60)
	onceBack = charts.ColorRGB(67, 56, 202)
)

// clock words whole seconds as minutes and seconds.
func clock(s int) string { return fmt.Sprintf("%d:%02d", s/60, s%60) }
