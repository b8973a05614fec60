package preview

import (
	"testing"
	"time"

	"n8n-retry-planner/envelope"
)

func BenchmarkPreviewWithJitter(b *testing.B) {
	s, err := envelope.DecodeScript([]byte(`{"max_attempts":8,"base":2,"exp_cap":60,"total_wait_budget":300,"policy":{"jitter":"full"},"script":{"status":429,"repeat":"always"}}`), time.Now())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		Of(s, time.Now())
	}
}
