package main

import (
	"fmt"
	"os"
	"time"

	"github.com/go-analyze/charts"
)

// Size of the picture, pixels: panels under each other.
const (
	pictureWidth = 900
	panelHeight  = 220
)

// panel is a set of bars with one unit.
type panel struct {
	title  string
	labels []string
	values []float64
}

func (p *panel) add(label string, value float64) {
	p.labels, p.values = append(p.labels, label), append(p.values, value)
}

// draw writes the picture: how many calls each service takes, and what an item
// and a kilobyte cost as batches and bodies grow, where level bars mean that
// the cost grows linearly.
func (r *result) draw(file string) error {
	calls := &panel{title: "one item: calls a second on one CPU"}
	for _, row := range services {
		calls.add(row[0], r.subject(row[0]).median().perSecond)
	}
	items := &panel{title: "batches: CPU time for each item, µs"}
	bodies := &panel{title: "bodies: CPU time for each kB, µs"}
	for _, s := range r.subjects[len(services):] {
		cpu := float64(s.median().cpu) / float64(time.Microsecond)
		if s.path == "/v1/plan/batch" {
			items.add(s.name, cpu/float64(s.items))
		} else {
			bodies.add(s.name, cpu/float64(len(s.body))*1000)
		}
	}
	panels := []*panel{calls, items, bodies}
	if r.n8n != nil {
		inside := &panel{title: "1 000 items in n8n: ms"}
		for _, row := range r.n8n.rows() {
			inside.add(row.name, row.milliseconds)
		}
		panels = append(panels, inside)
	}
	return drawPanels(file, panels)
}

func drawPanels(file string, panels []*panel) error {
	painter := charts.NewPainter(charts.PainterOptions{
		OutputFormat: charts.ChartOutputSVG, Width: pictureWidth, Height: panelHeight * len(panels),
	})
	painter.FilledRect(0, 0, painter.Width(), painter.Height(), charts.ColorWhite, charts.ColorWhite, 0)
	for i, p := range panels {
		o := charts.NewBarChartOptionWithData([][]float64{p.values})
		o.Title = charts.TitleOption{Text: p.title, Offset: charts.OffsetLeft, FontStyle: charts.FontStyle{FontSize: 12}}
		o.Legend.Show = charts.Ptr(false)
		o.CategoryAxis.Labels = p.labels
		o.CategoryAxis.LabelCount = len(p.labels)
		o.CategoryAxis.LabelFontStyle = charts.FontStyle{FontSize: 9}
		o.ValueAxis[0].Min = charts.Ptr(0.0)
		o.ValueAxis[0].LabelCount = 4
		o.SeriesList[0].Label.Show = charts.Ptr(true)
		o.ValueFormatter = func(f float64) string {
			if f >= 100 {
				return fmt.Sprintf("%.0f", f)
			}
			return fmt.Sprintf("%.3g", f)
		}
		child := painter.Child(charts.PainterBoxOption(charts.NewBox(12, i*panelHeight+8, pictureWidth-12, (i+1)*panelHeight)))
		if err := child.BarChart(o); err != nil {
			return fmt.Errorf("draw %q: %w", p.title, err)
		}
	}
	picture, err := painter.Bytes()
	if err != nil {
		return fmt.Errorf("draw the picture: %w", err)
	}
	return os.WriteFile(file, picture, 0o644)
}
