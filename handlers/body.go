package handlers

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"
)

// buffer is a pooled piece of text.
type buffer struct{ text []byte }

var buffers = sync.Pool{New: func() any { return new(buffer) }}

const (
	// leastBuffer is what a new buffer holds: a usual item and its answer.
	leastBuffer = 4 << 10
	// mostAnnounced is the most that is set aside for a body before any of it
	// has come: its length is the caller's word.
	mostAnnounced = 64 << 10
	// maxPooled is the largest buffer that is kept: one giant body must not stay
	// in memory for ever.
	maxPooled = 8 << 20
)

func newBuffer() *buffer { return buffers.Get().(*buffer) }

func (b *buffer) release() {
	if cap(b.text) > maxPooled {
		return
	}
	b.text = b.text[:0]
	buffers.Put(b)
}

// readAll reads r to its end. length is what was announced, -1 for nothing.
func (b *buffer) readAll(r io.Reader, length int64) error {
	for {
		if len(b.text) == cap(b.text) {
			b.grow(length)
		}
		n, err := r.Read(b.text[len(b.text):cap(b.text)])
		b.text = b.text[:len(b.text)+n]
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// grow doubles the buffer, but not past the announced length and the one byte
// more that shows the end.
func (b *buffer) grow(length int64) {
	size := max(2*int64(cap(b.text)), min(length+1, mostAnnounced))
	if length >= int64(len(b.text)) {
		size = min(size, length+1)
	}
	b.text = append(make([]byte, 0, max(size, leastBuffer)), b.text...)
}

// readBody reads a JSON body of at most limit bytes. It gives errMedia,
// a *bodyTooLargeError or errUnread.
func readBody(c *gin.Context, limit int64) (*buffer, error) {
	r := c.Request
	if !isJSON(r.Header.Get("Content-Type")) || !isPlain(r.Header.Get("Content-Encoding")) {
		return nil, errMedia
	}
	if r.ContentLength > limit {
		return nil, &bodyTooLargeError{limit: limit}
	}
	b := newBuffer()
	if err := b.readAll(http.MaxBytesReader(c.Writer, r.Body, limit), r.ContentLength); err != nil {
		// The buffer is not kept: many calls that are refused must not fill the pool.
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return nil, &bodyTooLargeError{limit: limit}
		}
		if errors.Is(err, errBusy) {
			return nil, errBusy
		}
		return nil, errUnread
	}
	return b, nil
}

// isJSON tells application/json and every …+json type.
func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	t, _, err := mime.ParseMediaType(contentType)
	return err == nil && (t == "application/json" || strings.HasSuffix(t, "+json"))
}

func isPlain(contentEncoding string) bool {
	return contentEncoding == "" || strings.EqualFold(contentEncoding, "identity")
}

// contentTypeJSON is shared by all answers, which do not write to it.
var contentTypeJSON = []string{"application/json"}

// countedByServer is up to which size net/http counts an answer itself.
const countedByServer = 2 << 10

func writeJSON(c *gin.Context, body []byte) {
	h := c.Writer.Header()
	h["Content-Type"] = contentTypeJSON
	if len(body) > countedByServer {
		h["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	c.Writer.WriteHeader(http.StatusOK)
	_, _ = c.Writer.Write(body) // a caller that has gone away needs no answer
}
