package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	step         = 250 * time.Millisecond // the width of a bar
	wide, high   = 720, 150               // one chart, pixels
	left, top    = 60, 50
	panel        = high + 90
	calm, crowdy = "#2f7d4f", "#b5482e"
)

// bars counts the arrivals in each step.
func (m measured) bars() []int {
	var bars []int
	for _, at := range m.arrivals {
		i := int(at / step)
		for len(bars) <= i {
			bars = append(bars, 0)
		}
		bars[i]++
	}
	return bars
}

func (m measured) text() string {
	last := slices.Max(m.arrivals)
	return fmt.Sprintf("%d calls for %d tasks, %d of them refused with 429, at most %d in %v, last after %.1f s; ended %v",
		len(m.arrivals), workers, m.refused, slices.Max(m.bars()), step, last.Seconds(), m.ended)
}

// draw gives the picture: the arrivals of both runs over the same time.
func draw(without, with measured) []byte {
	var b strings.Builder
	span := max(len(without.bars()), len(with.bars()))
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13" role="img" aria-label="Arrivals at an API without and with the gate">`+"\n",
		left+wide+20, top+2*panel-40)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="#fff"/><text x="%d" y="22" font-size="15" font-weight="bold">%d workers, an API that allows %d calls in %v</text>`+"\n", left, workers, limit, window)
	scale := max(slices.Max(without.bars()), slices.Max(with.bars()))
	chart(&b, 0, "Without the gate", crowdy, without, span, scale)
	chart(&b, 1, "With the gate", calm, with, span, scale)
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

func chart(b *strings.Builder, n int, title, colour string, m measured, span, scale int) {
	y := top + n*panel
	bars := m.bars()
	most := slices.Max(bars)
	w := float64(wide) / float64(span)
	fmt.Fprintf(b, `<g transform="translate(%d,%d)"><text y="0"><tspan font-weight="bold">%s</tspan>: %d calls, %d refused with 429, at most %d in %v</text>`+"\n",
		left, y, title, len(m.arrivals), m.refused, most, step)
	fmt.Fprintf(b, `<line x1="0" y1="%d" x2="%d" y2="%d" stroke="#888"/><text x="-8" y="26" text-anchor="end" fill="#555">%d</text><text x="-8" y="%d" text-anchor="end" fill="#555">0</text>`+"\n",
		high+15, wide, high+15, scale, high+15)
	for i, count := range bars {
		h := float64(count) / float64(scale) * high
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`, float64(i)*w, high+15-h, w*0.85, h, colour)
	}
	for s := 0; time.Duration(s)*time.Second <= time.Duration(span)*step; s += 3 {
		fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle" fill="#555">%d s</text>`, float64(s)*float64(time.Second/step)*w, high+33, s)
	}
	b.WriteString("</g>\n")
}
