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

	"n8n-retry-planner/planner/herd"
)

// Size of the picture, pixels: one panel for each policy, one under the other.
const (
	pictureWidth = 1000
	panelHeight  = 190
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
	painter := charts.NewPainter(charts.PainterOptions{
		OutputFormat: pictureFormat(name), Width: pictureWidth, Height: headHeight + panelHeight*len(results),
	})
	painter.FilledRect(0, 0, painter.Width(), painter.Height(), charts.ColorWhite, charts.ColorWhite, 0)
	painter.Text(fmt.Sprintf("%d executions over %d workers: calls that arrive each second", w.Executions, w.Workers),
		24, 30, 0, charts.FontStyle{FontSize: 15, FontColor: charts.ColorBlack})
	outage := time.Duration(w.Upstream.Outage * float64(time.Second))
	painter.Text(fmt.Sprintf("The API is down for the first %s, then allows %d calls in %s.", outage, w.Upstream.Limit,
		time.Duration(w.Upstream.Window*float64(time.Second))), 24, 52, 0, charts.FontStyle{FontSize: 11, FontColor: charts.ColorRGB(90, 90, 105)})
	for i, r := range results {
		panel := painter.Child(charts.PainterBoxOption(charts.NewBox(12, headHeight+i*panelHeight, pictureWidth-12, headHeight+(i+1)*panelHeight)))
		if err := panel.LineChart(panelOf(&r, seconds, float64(top), w.Upstream.Outage)); err != nil {
			return fmt.Errorf("draw the picture: %w", err)
		}
	}
	picture, err := painter.Bytes()
	if err != nil {
		return fmt.Errorf("draw the picture: %w", err)
	}
	return os.WriteFile(name, picture, 0o644)
}

func panelOf(r *herd.Result, seconds int, top, outage float64) charts.LineChartOption {
	step := max(1, (seconds+panelPoints-1)/panelPoints)
	values, labels := [2][]float64{}, []string{}
	for from := 0; from < seconds; from += step {
		peak := 0.0
		if from < len(r.Arrivals) {
			peak = float64(slices.Max(r.Arrivals[from:min(from+step, len(r.Arrivals))]))
		}
		down, back := charts.GetNullValue(), charts.GetNullValue()
		if float64(from) < outage {
			down = peak
		}
		if float64(from+step) >= outage { // the parts meet, so that the line has no gap
			back = peak
		}
		values[0], values[1] = append(values[0], down), append(values[1], back)
		labels = append(labels, clock(from))
	}
	o := charts.NewLineChartOptionWithData(values[:])
	o.Title = charts.TitleOption{Text: r.Name, FontStyle: charts.FontStyle{FontSize: 12},
		Subtext: fmt.Sprintf("peak once back %d a second, %d calls wasted, %d lost, all done after %s",
			r.PeakBack, r.Wasted, r.Lost, clock(int(math.Ceil(r.Done)))),
		SubtextFontStyle: charts.FontStyle{FontSize: 10}}
	o.Legend.SeriesNames = []string{"in the outage", "once back"}
	o.Legend.Offset = charts.OffsetRight
	o.Symbol.Shape = charts.SymbolNone
	o.LineStrokeWidth = 1.4
	o.FillArea = charts.Ptr(true)
	o.FillOpacity = 70
	o.Theme = charts.GetTheme(charts.ThemeLight).WithSeriesColors([]charts.Color{charts.ColorRGB(190, 60, 60), charts.ColorRGB(67, 56, 202)})
	o.XAxis.Labels = labels
	o.XAxis.LabelCount = 10
	o.YAxis[0].Min, o.YAxis[0].Max = charts.Ptr(0.0), charts.Ptr(top)
	o.YAxis[0].LabelCount = 4
	o.YAxis[0].ValueFormatter = func(f float64) string { return fmt.Sprintf("%.0f", f) }
	return o
}

// clock words whole seconds as minutes and seconds.
func clock(s int) string { return fmt.Sprintf("%d:%02d", s/60, s%60) }
