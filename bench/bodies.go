package main

import (
	"bytes"
	"fmt"
	"strings"
)

// item is a usual item, about 400 bytes.
const item = `{"url":"https://api.example.com/v1/orders?page=7","method":"GET","cursor":"page-7","page":7,` +
	`"attempts":2,"max_attempts":5,"base":1,"exp_cap":60,"total_wait_budget":300,"elapsed_wait":1,` +
	`"statusCode":429,"headers":{"content-type":"application/json","retry-after":"7","date":"Thu, 15 Jan 2026 12:00:00 GMT"},` +
	`"body":{"error":{"code":"rate_limited","message":"slow down"}},"policy":{"max_wait":60}}`

// batchOf is a batch of n such items.
func batchOf(n int) []byte {
	return []byte("[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]")
}

// bodyOf is an item of about size bytes: its response has a list of records.
func bodyOf(size int) []byte {
	head, tail, _ := strings.Cut(item, `"body":{"error":{"code":"rate_limited","message":"slow down"}}`)
	var b bytes.Buffer
	b.WriteString(head + `"body":{"records":[`)
	for n := 0; b.Len()+len(tail)+100 < size; n++ {
		if n > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"name":"record number %d","active":true,"price":%d.25,"note":"as delivered, in two parts"}`, n, n, n)
	}
	b.WriteString(`]}` + tail)
	return b.Bytes()
}
