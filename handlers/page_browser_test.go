//go:build e2e

package handlers

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// browser is one tab of a real Chromium, and what its console said.
type browser struct {
	context.Context
	t       *testing.T
	mu      sync.Mutex
	console []string
}

func openBrowser(t *testing.T) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	ctx, cancelAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancelAllocator)
	ctx, cancelTab := chromedp.NewContext(ctx)
	t.Cleanup(cancelTab)
	ctx, cancelTime := context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(cancelTime)
	b := &browser{Context: ctx, t: t}
	require.NoError(t, chromedp.Listen(ctx, func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := event.(type) {
		case *cdpruntime.EventConsoleAPICalled:
			b.console = append(b.console, string(e.Type))
		case *cdpruntime.EventExceptionThrown:
			b.console = append(b.console, e.ExceptionDetails.Text)
		case *log.EventEntryAdded:
			b.console = append(b.console, e.Entry.Text)
		}
	}))
	return b
}

func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	require.NoError(b.t, chromedp.Do(b, actions...))
}

// value gives a JavaScript expression's value.
func value[T any](b *browser, expression string) T {
	b.t.Helper()
	out, err := chromedp.Run(b, chromedp.Evaluate[T](expression))
	require.NoError(b.t, err, expression)
	return out
}

// until waits for a JavaScript expression to be true. It asks again and again
// from outside: the page's own policy lets no code be made from text.
func (b *browser) until(expression string) {
	b.t.Helper()
	require.Eventually(b.t, func() bool {
		holds, err := chromedp.Run(b, chromedp.Evaluate[bool](expression))
		return err == nil && holds
	}, 15*time.Second, 30*time.Millisecond, expression)
}

// set puts a text into a field, as a paste does; typed types it, key by key.
func (b *browser) set(selector, text string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := chromedp.Evaluate[any](fmt.Sprintf(`document.querySelector(%q).value = %q`, selector, text))(ctx, tab)
		return err
	})
}

func (b *browser) typed(selector, text string) chromedp.Action[chromedp.Void] {
	return chromedp.Steps(b.set(selector, ""), chromedp.SendKeys(selector, text))
}

// quiet fails the test when the console has said anything.
func (b *browser) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	assert.Empty(b.t, b.console, "the console is not empty")
}

// picture keeps a screenshot where PLANNER_SCREENSHOTS names a folder.
func (b *browser) picture(name string) {
	b.t.Helper()
	folder := os.Getenv("PLANNER_SCREENSHOTS")
	shot, err := chromedp.Run(b, chromedp.FullScreenshot(100))
	require.NoError(b.t, err)
	assert.NotEmpty(b.t, shot)
	if folder != "" {
		require.NoError(b.t, os.WriteFile(filepath.Join(folder, name+".png"), shot, 0o600))
	}
}

// prefer sets the colour scheme that the page is asked for.
func prefer(scheme string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, emulation.SetEmulatedMedia,
			emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		return err
	})
}

const drawn = `document.querySelector('#chart svg') !== null && document.querySelector('#answer').textContent !== ''`

func pageOf(t *testing.T, change func(*Options)) string {
	service := httptest.NewServer(newTestService(func(o *Options) {
		o.MaxBodyBytes, o.Now = 1<<20, time.Now
		if change != nil {
			change(o)
		}
	}))
	t.Cleanup(service.Close)
	return service.URL
}

func TestPageInABrowser(t *testing.T) {
	b := openBrowser(t)
	url := pageOf(t, nil)
	b.do(chromedp.EmulateViewport(1280, 900), chromedp.Navigate(url))
	b.until(drawn)
	assert.Contains(t, value[string](b, `document.querySelector('#verdict').textContent`), "success")
	b.picture("page")

	// Click: a ready-made script, and the known figures in the table.
	b.do(chromedp.Click(`//button[text()="Always 429"]`))
	b.until(`document.querySelector('#verdict strong').textContent === 'exhausted'`)
	assert.Equal(t, "2 4 8 16 32 60 60 –", value[string](b, `[...document.querySelectorAll('#table tbody tr')].map(r => r.cells[6].textContent).join(' ')`))
	assert.Contains(t, value[string](b, `document.querySelector('#verdict').textContent`), "3 min 2 s")

	// Keyboard: a slider with the arrow keys changes the numbers.
	b.do(chromedp.Focus(`#numbers input[type=range]`), chromedp.KeyEvent(kb.ArrowRight))
	b.until(`document.querySelector('#n-base').value === '3' && document.querySelector('#table tbody tr').cells[6].textContent === '3'`)
	b.do(chromedp.Focus(`[name=jitter]:checked`), chromedp.KeyEvent(kb.ArrowRight))
	b.until(`document.querySelector('[name=jitter]:checked').value === 'full' && document.querySelector('#verdict').textContent.includes('Expected')`)

	// Type: a field that is wrong is told, and marked; right again, all is well.
	b.do(b.typed(`#n-base`, "abc"))
	b.until(`document.querySelector('#n-base').getAttribute('aria-invalid') === 'true'`)
	b.do(b.typed(`#n-base`, "0.5"))
	b.until(`!document.querySelector('#n-base').hasAttribute('aria-invalid') && document.querySelector('#request').textContent.includes('"base": 0.5')`)

	// Paste an envelope with a state of its own.
	b.do(chromedp.Click(`#paste summary`), b.set(`#envelope`, `{"statusCode": 429, "headers": {"retry-after": "40"}, "max_attempts": 3, "base": 1, "exp_cap": 5, "total_wait_budget": 30}`),
		chromedp.Click(`#use-envelope`))
	b.until(`document.querySelector('#verdict strong').textContent === 'defer' && document.querySelector('#n-total_wait_budget').value === '30' && document.querySelector('#answer').textContent.includes('retry_wait_budget_exceeded')`)

	// The answer of /v1/plan has the preview's numbers.
	b.do(chromedp.Click(`//button[text()="A bad patch"]`), b.typed(`#n-total_wait_budget`, "300"),
		b.typed(`#n-max_attempts`, "8"), chromedp.Click(`[name=jitter][value=none]`))
	b.until(`document.querySelector('#verdict strong').textContent === 'success'`)
	b.do(b.set(`#which`, "2"))
	value[any](b, `document.querySelector('#which').dispatchEvent(new Event('change'))`)
	b.until(`JSON.parse(document.querySelector('#answer').textContent).attempts === 3`)
	var answer struct {
		Wait float64 `json:"wait_seconds"`
	}
	require.NoError(t, json.Unmarshal([]byte(value[string](b, `document.querySelector('#answer').textContent`)), &answer))
	inTable, err := strconv.ParseFloat(value[string](b, `document.querySelectorAll('#table tbody tr')[1].cells[6].textContent`), 64)
	require.NoError(t, err)
	assert.Equal(t, answer.Wait, inTable)

	// Every provider's example is read by its dialect.
	for _, name := range strings.Fields(value[string](b, `Object.keys(examples).join(' ')`)) {
		b.do(b.set(`#example`, name))
		value[any](b, `timeline = null; document.querySelector('#example').dispatchEvent(new Event('change'))`)
		b.until(`timeline !== null`)
		first := value[map[string]any](b, `timeline.attempts[0]`)
		switch name {
		case "hubspot":
			assert.Equal(t, "quota_exhausted", first["error_code"], name)
		case "stripe":
			assert.Equal(t, "retry", first["decision"], name)
		case "anthropic":
			assert.Equal(t, "overloaded", first["outcome"], name)
		default:
			assert.Greater(t, first["floor"], 0.0, name)
		}
	}

	// Pace, workflows, providers.
	b.until(`document.querySelector('#pace-result').textContent.includes('667 ms') && document.querySelector('#pace-result').textContent.includes('6 min 40 s')`)
	b.do(b.typed(`[data-pace=within]`, "300"))
	b.until(`document.querySelector('#pace-result .warn') !== null`)
	assert.True(t, value[bool](b, `document.querySelector('#workflow-list a').href === location.origin + '/workflows/retry-429.json' || document.querySelectorAll('#workflow-list a').length > 1`))
	b.do(chromedp.SendKeys(`#provider-search`, "github"))
	b.until(`document.querySelectorAll('#provider-list li').length === 1`)
	b.quiet()
}

func TestPageAtPhoneWidthAndInDarkMode(t *testing.T) {
	b := openBrowser(t)
	url := pageOf(t, nil)
	light := ""
	for _, scheme := range []string{"light", "dark"} {
		b.do(chromedp.EmulateViewport(360, 740), prefer(scheme), chromedp.Navigate(url))
		b.until(drawn)
		assert.LessOrEqual(t, value[int](b, `document.documentElement.scrollWidth - innerWidth`), 0, "nothing stands out to the side")
		background := value[string](b, `getComputedStyle(document.body).backgroundColor`)
		assert.NotEqual(t, light, background)
		light = background
		b.picture("phone-" + scheme)
	}
	b.quiet()
}

func TestPageAsksForAKeyBeforeItsFirstCall(t *testing.T) {
	b := openBrowser(t)
	url := pageOf(t, func(o *Options) { o.APIKeys = []APIKey{{"main", "secret"}} })
	b.do(chromedp.Navigate(url), chromedp.WaitVisible(`#key`), chromedp.SendKeys(`#key-value`, "secret"+kb.Enter))
	b.until(drawn + ` && document.querySelector('#key').hidden`)
	b.until(`document.querySelectorAll('#provider-list li').length > 1`)
	b.quiet()
}
