// Package plannedhttp is a ready-made retry loop: an http.RoundTripper that
// asks the planner after each call that failed. Copy it; it needs the standard
// library alone and holds no retry rule of its own.
package plannedhttp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// Transport sends each request until the planner gives a terminal decision.
// Then the last response, or the last error, is what the caller gets.
type Transport struct {
	// Planner is the planner's address, such as http://127.0.0.1:8080.
	Planner string
	// State is the attempt state of every new request: max_attempts, base,
	// exp_cap, total_wait_budget and, if wanted, policy.
	State map[string]any
	// Base sends the requests; nil is http.DefaultTransport.
	Base http.RoundTripper
}

// maxBody is how much of a response's body the planner gets to see, bytes.
const maxBody = 64 << 10

// RoundTrip implements http.RoundTripper. A request with a body must have
// GetBody to be sent twice; http.NewRequest sets it for the usual readers. The
// request's context ends the call, the question and the wait.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	state := maps.Clone(t.State)
	state["method"] = r.Method
	if key := r.Header.Get("Idempotency-Key"); key != "" {
		state["idempotency_key"] = key
	}
	for {
		response, err := t.base().RoundTrip(r)
		if r.Context().Err() != nil || err == nil && response.StatusCode < 300 {
			return response, err
		}
		item := maps.Clone(state)
		describe(item, response, err)
		answer, planErr := t.plan(r.Context(), item)
		if planErr != nil {
			closeBody(response)
			return nil, errors.Join(planErr, err)
		}
		if answer["decision"] != "retry" {
			return response, err
		}
		closeBody(response)
		if r, err = again(r); err != nil {
			return nil, err
		}
		seconds, _ := answer["wait_seconds"].(float64)
		select {
		case <-r.Context().Done():
			return nil, r.Context().Err()
		case <-time.After(time.Duration(seconds * float64(time.Second))):
		}
		state = answer
	}
}

func (t *Transport) base() http.RoundTripper {
	if t.Base == nil {
		return http.DefaultTransport
	}
	return t.Base
}

// describe adds to the item what the call gave.
func describe(item map[string]any, response *http.Response, err error) {
	if err != nil {
		item["error"] = map[string]any{"message": err.Error(), "code": codeOf(err)}
		return
	}
	item["statusCode"], item["headers"] = response.StatusCode, response.Header
	start, _ := io.ReadAll(io.LimitReader(response.Body, maxBody)) // a broken body is the caller's to find
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(start), response.Body), response.Body}
	if json.Valid(start) {
		item["body"] = json.RawMessage(start)
	} else {
		item["data"] = strings.ToValidUTF8(string(start), "\uFFFD")
	}
}

// codeOf names an error as Node and n8n do. What has no name here may mean
// anything, which is what the planner takes it for.
func codeOf(err error) string {
	var dns *net.DNSError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "ECONNREFUSED"
	case errors.Is(err, syscall.ECONNRESET):
		return "ECONNRESET"
	case errors.As(err, &dns) && dns.IsNotFound:
		return "ENOTFOUND"
	}
	return ""
}

// plan asks the planner.
func (t *Transport) plan(ctx context.Context, item map[string]any) (answer map[string]any, err error) {
	body, err := json.Marshal(item)
	if err != nil {
		return nil, fmt.Errorf("plan the retry: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.Planner+"/v1/plan", bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("plan the retry: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, fmt.Errorf("plan the retry: %w", err)
	}
	defer closeBody(response)
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil, fmt.Errorf("plan the retry: status %d: %w", response.StatusCode, err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("plan the retry: %v", answer["detail"])
	}
	return answer, nil
}

// again gives the request with a fresh body.
func again(r *http.Request) (*http.Request, error) {
	r = r.Clone(r.Context())
	if r.Body == nil || r.Body == http.NoBody {
		return r, nil
	}
	if r.GetBody == nil {
		return nil, errors.New("send the request again: its body can be read only once; set GetBody")
	}
	body, err := r.GetBody()
	if err != nil {
		return nil, fmt.Errorf("send the request again: %w", err)
	}
	r.Body = body
	return r, nil
}

func closeBody(response *http.Response) {
	if response != nil {
		_ = response.Body.Close() // nothing of it is wanted any more
	}
}
