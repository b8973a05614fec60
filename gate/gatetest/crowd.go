package gatetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Ask is one question at POST /v1/admit, and for a go what came of it. The
// gate decided somewhere between Asked and Told.
type Ask struct {
	Worker         int
	Task, Permit   string
	First          bool // no permit was brought
	Asked, Told    time.Time
	Decision, Code string
	Wait           time.Duration
	Bypassed       bool

	Reported time.Time // go: when the plan was asked for; zero for a worker that died
	Freed    time.Time // go: when it was answered
	Status   int       // go: of the call
}

// Crowd is many workers on several replicas, all calling one API, each until
// its task has ended. A worker does what the workflow does: admit, call, plan,
// wait, with the answer as the next state.
type Crowd struct {
	Replicas []string         // URLs of the service
	API      string           // URL of the upstream
	Gate     json.RawMessage  // the gate object; nil to call without asking
	State    map[string]any   // the attempt state of a new task
	Workers  int              // one task each
	Task     func(int) string // the task of a worker
	Deaths   float64          // share of calls whose worker dies without a report

	client *http.Client
	mu     sync.Mutex
	asks   []Ask
	ended  map[string]int
}

// Run lets all workers work and returns when the last has ended. It gives the
// log of their questions, and how many ended how: "done", "died", or the
// error_code of a terminal answer.
func (c *Crowd) Run() ([]Ask, map[string]int) {
	c.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: c.Workers}}
	defer c.client.CloseIdleConnections()
	c.ended = map[string]int{}
	var all sync.WaitGroup
	for n := range c.Workers {
		all.Go(func() {
			end := c.work(n)
			c.mu.Lock()
			defer c.mu.Unlock()
			c.ended[end]++
		})
	}
	all.Wait()
	return c.asks, c.ended
}

// Asked is how many questions have been answered so far.
func (c *Crowd) Asked() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.asks)
}

// later lists the codes with which an execution ends that its caller starts
// again a little later.
var later = map[string]bool{"circuit_open": true, "gate_unavailable": true, "already_active": true}

func (c *Crowd) work(n int) string {
	fresh := maps.Clone(c.State)
	fresh["task_id"] = c.Task(n)
	if c.Gate != nil {
		fresh["gate"] = c.Gate
	}
	item := maps.Clone(fresh)
	for {
		var ask Ask
		if c.Gate != nil {
			var end string
			if ask, item, end = c.admit(n, item); end != "" {
				if !later[end] {
					return end
				}
				time.Sleep(time.Duration(20+rand.IntN(60)) * time.Millisecond)
				item = maps.Clone(fresh)
				continue
			}
			if ask.Decision == "wait" {
				time.Sleep(ask.Wait)
				continue
			}
		}
		ask.Status = c.call(item)
		if rand.Float64() < c.Deaths {
			c.log(ask)
			return "died"
		}
		ask.Reported = time.Now()
		item["statusCode"] = ask.Status
		answer, err := c.ask(n, "/v1/plan", item)
		ask.Freed = time.Now()
		c.log(ask)
		switch {
		case err != nil:
			return err.Error()
		case answer["decision"] == "success":
			return "done"
		case answer["decision"] != "retry":
			return fmt.Sprint(answer["error_code"])
		}
		item = answer
		time.Sleep(seconds(answer["wait_seconds"]))
	}
}

// admit asks whether the worker may call; end is a terminal answer's code.
func (c *Crowd) admit(n int, item map[string]any) (a Ask, next map[string]any, end string) {
	_, permitted := item["permit"]
	a = Ask{Worker: n, Task: c.Task(n), First: !permitted, Asked: time.Now()}
	answer, err := c.ask(n, "/v1/admit", item)
	if err != nil {
		return a, item, err.Error()
	}
	a.Told = time.Now()
	a.Decision, _ = answer["decision"].(string)
	a.Code, _ = answer["error_code"].(string)
	a.Permit, _ = answer["permit"].(string)
	a.Bypassed, _ = answer["gate_bypassed"].(bool)
	a.Wait = seconds(answer["wait_seconds"])
	switch a.Decision {
	case "go":
		return a, answer, ""
	case "wait":
		c.log(a)
		return a, answer, ""
	}
	c.log(a)
	return a, answer, a.Code
}

func (c *Crowd) log(a Ask) {
	if a.Decision == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asks = append(c.asks, a)
}

// call calls the API; 0 stands for no response.
func (c *Crowd) call(item map[string]any) int {
	r, err := http.NewRequest(http.MethodGet, c.API, nil)
	if err != nil {
		return 0
	}
	r.Header.Set("X-Task", fmt.Sprint(item["task_id"]))
	r.Header.Set("X-Permit", fmt.Sprint(item["permit"]))
	w, err := c.client.Do(r)
	if err != nil {
		return 0
	}
	_ = w.Body.Close()
	if after, err := strconv.Atoi(w.Header.Get("Retry-After")); err == nil {
		item["headers"] = map[string]any{"retry-after": after}
	}
	return w.StatusCode
}

// ask posts an item to the worker's replica, or to the next when that one is
// gone. The error is any answer that is no 200.
func (c *Crowd) ask(n int, path string, item map[string]any) (map[string]any, error) {
	body, err := json.Marshal(item)
	if err != nil {
		return nil, err
	}
	for try := range c.Replicas {
		replica := c.Replicas[(n+try)%len(c.Replicas)]
		var w *http.Response
		w, err = c.client.Post(replica+path, "application/json", bytes.NewReader(body))
		if err != nil {
			continue
		}
		got, readErr := io.ReadAll(w.Body)
		_ = w.Body.Close()
		if err = readErr; err != nil {
			continue
		}
		if w.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("%s answered %d: %s", path, w.StatusCode, got)
		}
		var answer map[string]any
		err = json.Unmarshal(got, &answer)
		return answer, err
	}
	return nil, err
}

func seconds(v any) time.Duration {
	s, _ := v.(float64)
	return time.Duration(s * float64(time.Second))
}
