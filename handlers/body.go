package handlers

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"
)

// buffer is a pooled byte buffer.
type buffer struct{ bytes.Buffer }

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// maxPooled is the largest buffer that is kept: one giant body must not stay
// in memory for ever.
const maxPooled = 4 << 20

func newBuffer() *buffer { return buffers.Get().(*buffer) }

func (b *buffer) release() {
	if b.Cap() > maxPooled {
		return
	}
	b.Reset()
	buffers.Put(b)
}

// set takes what was appended to AvailableBuffer as the buffer's content. It
// is not copied where it has outgrown the buffer.
func (b *buffer) set(content []byte) { b.Buffer = *bytes.NewBuffer(content) }

// readAll reads to the end as ReadFrom does, but grows to no more than the
// announced length: a buffer of twice a large body is the body once more.
func (b *buffer) readAll(r io.Reader, announced int) error {
	text := b.AvailableBuffer()
	defer func() { b.set(text) }()
	for {
		if len(text) == cap(text) {
			size := 2*cap(text) + bytes.MinRead
			if whole := announced + 1; whole > len(text) && whole < size {
				size = whole // with room to see the end
			}
			text = append(make([]byte, 0, size), text...)
		}
		n, err := r.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
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
	if r.ContentLength > 0 {
		// The length is the caller's word: no more is set aside on it than a
		// usual body needs.
		b.Grow(int(min(r.ContentLength+bytes.MinRead, 64<<10)))
	}
	if err := b.readAll(http.MaxBytesReader(c.Writer, r.Body, limit), int(r.ContentLength)); err != nil {
		if b.Cap() <= 64<<10 { // many that are refused must not fill the pool
			b.release()
		}
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

func writeJSON(c *gin.Context, body []byte) {
	h := c.Writer.Header()
	h["Content-Type"] = []string{"application/json"}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	c.Writer.WriteHeader(http.StatusOK)
	_, _ = c.Writer.Write(body) // a caller that has gone away needs no answer
}
