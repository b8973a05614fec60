package envelope

import (
	"context"
	"strings"
	"testing"
)

var benchItem = `{"url":"https://api.example.com/v1/orders?page=7","method":"GET","cursor":12345678901234567890,"page":7,` +
	`"attempts":2,"max_attempts":5,"base":1,"exp_cap":60,"total_wait_budget":300,"elapsed_wait":1,"task_id":"orders-7",` +
	`"statusCode":429,"headers":{"content-type":"application/json","retry-after":"7","date":"Thu, 15 Jan 2026 12:00:00 GMT"},` +
	`"body":{"error":{"code":"rate_limited","message":"slow down"}},"policy":{"max_wait":60}}`

func BenchmarkDecodePlanAppend(b *testing.B) {
	raw := []byte(benchItem)
	out := make([]byte, 0, 1024)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		it, err := Decode(raw, testNow)
		if err != nil {
			b.Fatal(err)
		}
		d := planOf(it)
		out = it.AppendAnswer(out[:0], &d, nil)
		it.Release()
	}
}

// A large item is mostly a body that nobody looks into.
func BenchmarkDecodeLarge(b *testing.B) {
	records := strings.Repeat(`{"id":4711,"name":"record number 7","active":true,"price":7.25,"note":"as delivered, in two parts"},`, 10000)
	raw := []byte(strings.Replace(benchItem, `"body":{`, `"body":{"records":[`+strings.TrimSuffix(records, ",")+"],", 1))
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		it, err := Decode(raw, testNow)
		if err != nil {
			b.Fatal(err)
		}
		it.Release()
	}
}

func BenchmarkDecodeBatch(b *testing.B) {
	raw := []byte("[" + strings.TrimSuffix(strings.Repeat(benchItem+",", 100), ",") + "]")
	out := make([]byte, 0, 128<<10)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		out = out[:0]
		err := DecodeBatch(context.Background(), raw, 100, testNow, func(e *Element) error {
			out = e.Append(out, appendAnswer)
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseRetryAfter(b *testing.B) {
	for name, value := range map[string]string{
		"seconds": "120", "imf": "Thu, 15 Jan 2026 12:00:30 GMT",
		"rfc850": "Thursday, 15-Jan-26 12:00:30 GMT", "asctime": "Thu Jan 15 12:00:30 2026",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := ParseRetryAfter(value, testNow); !ok {
					b.Fatal("refused")
				}
			}
		})
	}
}

func TestParseRetryAfterDoesNotAllocate(t *testing.T) {
	for _, value := range []string{"120", "Thu, 15 Jan 2026 12:00:30 GMT", "Thursday, 15-Jan-26 12:00:30 GMT", "Thu Jan 15 12:00:30 2026", "soon"} {
		if n := testing.AllocsPerRun(100, func() { ParseRetryAfter(value, testNow) }); n != 0 {
			t.Errorf("%q: %v allocations", value, n)
		}
	}
}
