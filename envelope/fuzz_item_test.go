package envelope

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"unicode/utf8"

	"n8n-retry-planner/planner"
)

var itemSeeds = []string{
	`{}`, `[]`, ``, `{"statusCode":429}`, item(), "\ufeff{}", "{\"a\":\"\xff\"}",
	item(`"attempts":2`, `"elapsed_wait":"1.5"`, `"headers":{"Retry-After":["7",null]}`, `"body":{"a":1.0}`, `"data":"x"`),
	item(`"policy":{"jitter":"full","spread":3,"max_wait":30,"deadline":"2026-01-15T13:00:00Z","clock":"server","explain":true}`, `"task_id":"t"`),
	item(`"policy":{"jitter":"decorrelated","retry_statuses":[429,"503"],"safe_to_retry":true}`, `"wait_seconds":4`, `"method":"POST"`),
	failedItem(`{"code":"ECONNREFUSED","options":{"method":"get"}}`, `"details":{"httpCode":"x","context":{}}`, `"statusCode":503`),
	failedItem(`{"status":"429","response":{"headers":{"retry-after":"Thu, 15 Jan 2026 12:00:30 GMT"}}}`),
	failedItem(`"boom"`, `"details":{"httpCode":"503"}`),
	item(`"\u0061ttempts":3`, `"":1`, `"__proto__":{"a":[1.50,-0,1e5,"\ud83d"]}`, `"json":{"a":{}}`, `"explain":1`),
	`{"statusCode":"429","max_attempts":1e300,"base":5e-324,"exp_cap":1.7e308,"total_wait_budget":1.7e308,"elapsed_wait":1e292,"attempts":"9007199254740993"}`,
	item(`"a":1,"\u0061":2`), item(`"headers":{"retry-after":99999999999999999999}`),
}

// FuzzDecode gives the item decoder any bytes, and holds the promises of
// section 2 against every answer.
func FuzzDecode(f *testing.F) {
	for _, seed := range itemSeeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		original := bytes.Clone(raw)
		it, err := Decode(raw, testNow)
		if !bytes.Equal(raw, original) {
			t.Fatal("the input was written to")
		}
		if err != nil {
			checkDecodeError(t, raw, err)
			return
		}
		defer it.Release()
		d := planOf(it)
		out := appendAnswer(nil, it)
		got := topMembers(t, out)
		if d.Verb != planner.Retry {
			checkTerminal(t, it, got, out)
			return
		}
		checkRetry(t, it, &d, topMembers(t, raw), got)
		next, err := Decode(out, testNow)
		var invalid *InvalidError
		if errors.As(err, &invalid) {
			// After a failure there is no response: the next envelope brings one.
			for _, fault := range invalid.Faults {
				if !it.failed || fault.Field != "statusCode" {
					t.Fatalf("the answer %s is refused: %v", out, fault)
				}
			}
			return
		}
		if err != nil {
			t.Fatalf("the answer %s does not decode: %v", out, err)
		}
		next.Release()
	})
}

// checkDecodeError: every error has one of two types and faults that name what
// to change; JSON that the standard library refuses is malformed.
func checkDecodeError(t *testing.T, raw []byte, err error) {
	t.Helper()
	var malformed *MalformedError
	var invalid *InvalidError
	switch {
	case errors.As(err, &malformed):
	case errors.As(err, &invalid):
		if len(invalid.Faults) == 0 || invalid.Attempts < 1 {
			t.Fatalf("%+v", invalid)
		}
		if !json.Valid(raw) || !utf8.Valid(raw) {
			t.Fatalf("%q is not JSON, and was taken for it", raw)
		}
	default:
		t.Fatalf("an error of no known type: %v", err)
	}
}

func checkTerminal(t *testing.T, it *Item, got []topMember, out []byte) {
	t.Helper()
	want := []string{"error_code", "attempts", "last_status", "decision", "next_request"}
	if it.WantsExplanation {
		want = append(want, "explain")
	}
	if len(got) != len(want) {
		t.Fatalf("not the five fields: %s", out)
	}
	for i, name := range want {
		if got[i].name != name {
			t.Fatalf("not the five fields: %s", out)
		}
	}
	if string(got[4].value) != "false" {
		t.Fatalf("a terminal answer that goes on: %s", out)
	}
}

func checkRetry(t *testing.T, it *Item, d *planner.Decision, in, out []topMember) {
	t.Helper()
	if !(d.Wait >= it.Outcome.Floor && d.Wait <= it.Policy.MaxWait && d.Wait < it.Policy.UntilDeadline) ||
		d.Wait > it.State.Budget-it.State.Elapsed || d.ElapsedWait > it.State.Budget {
		t.Fatalf("%+v does not fit %+v %+v", d, it.State, it.Policy)
	}
	set := map[string]bool{"error_code": true, "attempts": true, "last_status": true, "decision": true,
		"next_request": true, "wait_seconds": true, "elapsed_wait": true, "explain": it.WantsExplanation}
	gone := map[string]bool{"data": true, "statusMessage": true, "error": true}
	if it.failed {
		gone["statusCode"], gone["headers"], gone["body"] = true, true, true
		for _, m := range in {
			if m.name == "details" && isN8nDetails(m.value) {
				gone["details"] = true
			}
		}
	}
	// What is not set and not consumed is there, in order and to the byte.
	rest := out
	for _, m := range in {
		if gone[m.name] {
			continue
		}
		if len(rest) == 0 || rest[0].name != m.name || !set[m.name] && !bytes.Equal(rest[0].value, m.value) {
			t.Fatalf("%q is not where it was, or not as it was: %q", m, out)
		}
		delete(set, m.name)
		rest = rest[1:]
	}
	for _, m := range rest {
		if !set[m.name] {
			t.Fatalf("%q came from nowhere", m)
		}
		delete(set, m.name)
	}
	delete(set, "explain")
	if len(set) != 0 {
		t.Fatalf("%v are missing in %q", set, out)
	}
}

type topMember struct {
	name  string
	value json.RawMessage
}

// topMembers reads an object with the standard library, as a second opinion,
// and fails when a key is there twice.
func topMembers(t *testing.T, raw []byte) []topMember {
	t.Helper()
	if !json.Valid(raw) {
		t.Fatalf("not JSON: %q", raw)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		t.Fatalf("not an object: %q", raw)
	}
	seen := map[string]bool{}
	var out []topMember
	for dec.More() {
		name, err := dec.Token()
		var m topMember
		if err == nil {
			m.name = name.(string)
			err = dec.Decode(&m.value)
		}
		if err != nil || seen[m.name] {
			t.Fatalf("%q: key %q, %v", raw, m.name, err)
		}
		seen[m.name] = true
		out = append(out, m)
	}
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		t.Fatalf("something follows: %q", raw)
	}
	return out
}

// FuzzDecodeBatch: a batch has one answer for each element, in its form, and an
// item gets the same answer as alone.
func FuzzDecodeBatch(f *testing.F) {
	for _, seed := range itemSeeds {
		f.Add([]byte("[" + seed + "]"))
		f.Add([]byte(`[{"json":` + seed + `,"pairedItem":{"item":1.0}},` + seed + `]`))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		const limit = 50
		got, err := batchAnswers(string(raw), limit)
		if err != nil {
			var malformed *MalformedError
			var tooLarge *BatchTooLargeError
			if !errors.As(err, &malformed) && !errors.As(err, &tooLarge) {
				t.Fatalf("an error of no known type: %v", err)
			}
			return
		}
		var elements []json.RawMessage
		if err := json.Unmarshal(raw, &elements); err != nil || len(elements) != len(got) {
			t.Fatalf("%q: %d answers, %d elements, %v", raw, len(got), len(elements), err)
		}
		for i, element := range elements {
			members := topMembers(t, []byte(got[i]))
			if got[i] == "" || len(members) == 0 {
				t.Fatalf("%q has no answer", element)
			}
			it, err := Decode(element, testNow)
			if err != nil {
				continue
			}
			if alone := string(appendAnswer(nil, it)); members[0].name != "json" && alone != got[i] {
				t.Fatalf("%q: alone %s, in the batch %s", element, alone, got[i])
			}
			it.Release()
		}
	})
}
