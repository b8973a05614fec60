//go:build e2e

package handlers

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
)

func TestThePageOfDocumentationIsMadeFromTheFileAndAsksNoOtherHost(t *testing.T) {
	b := openBrowser(t)
	address := pageOf(t, nil)
	b.do(chromedp.Navigate(address + docsPath))
	b.until(`document.querySelectorAll('.opblock').length > 10`)

	// Every operation is shown, and one unfolds to its examples.
	assert.Equal(t, operations(t), value[int](b, `document.querySelectorAll('.opblock').length`))
	b.do(chromedp.Click(`#operations-Plan-plan .opblock-summary-control`))
	b.until(`document.querySelector('#operations-Plan-plan .opblock-body .model-example, #operations-Plan-plan .examples-select') !== null`)
	b.picture("docs")

	for _, fetched := range value[[]string](b, `performance.getEntriesByType('resource').map(e => e.name)`) {
		if !strings.HasPrefix(fetched, "data:") {
			assert.True(t, strings.HasPrefix(fetched, address+"/"), "the page asks another host: %s", fetched)
		}
	}
	b.quiet()
}

func operations(t *testing.T) (n int) {
	for _, item := range readDescription(t).model.Paths.PathItems.FromOldest() {
		n += item.GetOperations().Len()
	}
	return n
}
