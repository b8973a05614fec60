package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/goccy/go-yaml"
	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi/datamodel/high/base"
	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	retryplanner "n8n-retry-planner"
	"n8n-retry-planner/gate"
)

// description is openapi.yaml and a validator for it.
type description struct {
	model     *v3.Document
	validator validator.Validator
}

func readDescription(t *testing.T) *description {
	t.Helper()
	document, err := libopenapi.NewDocument(retryplanner.OpenAPI)
	require.NoError(t, err)
	model, err := document.BuildV3Model()
	require.NoError(t, err)
	v, errs := validator.NewValidator(document)
	require.Empty(t, errs)
	return &description{model: &model.Model, validator: v}
}

// exchange is one example of a response with the request that gets it.
type exchange struct {
	name           string // path, method, status and the example's name
	method         string
	path           string
	contentType    string
	body           []byte
	requestIsValid bool   // the file says that the request is as it should be
	setup          string // what the service must be for this answer, see setups
	status         string // as the file names it: a number or "default"
	want           any
	excerpt        bool // want is a part of the answer
}

// setups are the refusals that come from the service's own limits and state.
var setups = map[string]func(o *Options, e *exchange){
	"draining":             func(o *Options, _ *exchange) { o.Ready = func() bool { return false } },
	"unauthorized":         func(o *Options, _ *exchange) { o.APIKeys, o.Closed = []APIKey{{Name: "key-1", Secret: "key"}}, true },
	"body_too_large":       func(o *Options, e *exchange) { e.body = ofSize(o.MaxBodyBytes + 1) },
	"batch_body_too_large": func(o *Options, e *exchange) { e.body = ofSize(o.MaxBatchBytes + 1) },
	"batch_too_large": func(o *Options, e *exchange) {
		e.body = []byte("[" + strings.Repeat("{},", o.MaxBatchItems) + "{}]")
	},
	"internal_error": func(o *Options, _ *exchange) { o.Now = func() time.Time { panic("a fault") } },
	"admitted_once":  func(o *Options, e *exchange) { admitFirst(o, e, "") },
	"held":           func(o *Options, e *exchange) { admitFirst(o, e, `"statusCode":429,"headers":{"retry-after":"30"}`) },
	"failed_once":    func(o *Options, e *exchange) { admitFirst(o, e, `"statusCode":503`) },
	"gate_down":      func(o *Options, _ *exchange) { o.Gate = closedGate{} },
	"overloaded":     func(o *Options, _ *exchange) { o.MaxInFlight = 0 }, // no place is free
}

// admitFirst lets the exchange's own item pass the gate, as another worker's,
// and reports the outcome of its call, if there is one.
func admitFirst(o *Options, e *exchange, outcome string) {
	o.Gate = gate.NewMemory(o.Now)
	admitted := httptest.NewRecorder()
	New(*o).ServeHTTP(admitted, e.request())
	if outcome != "" {
		report := exchange{method: http.MethodPost, path: "/v1/plan", contentType: "application/json",
			body: []byte("{" + outcome + "," + strings.TrimPrefix(admitted.Body.String(), "{"))}
		New(*o).ServeHTTP(httptest.NewRecorder(), report.request())
	}
}

// closedGate is a store that does not answer, of a service that lets no call
// pass then.
type closedGate struct{ gate.Store }

func (closedGate) Admit(context.Context, gate.AdmitRequest) (gate.Verdict, error) {
	return gate.Verdict{Decision: gate.Refused, Reason: gate.Unavailable}, nil
}

func ofSize(n int64) []byte { return bytes.Repeat([]byte{' '}, int(n)) }

// exchanges gives all examples of the file.
func (d *description) exchanges(t *testing.T) []exchange {
	var out []exchange
	for path, item := range d.model.Paths.PathItems.FromOldest() {
		for method, operation := range item.GetOperations().FromOldest() {
			responses := map[string]*v3.Response{"default": operation.Responses.Default}
			for status, response := range operation.Responses.Codes.FromOldest() {
				responses[status] = response
			}
			for status, response := range responses {
				for _, media := range response.Content.FromOldest() {
					for name, example := range media.Examples.FromOldest() {
						e := exchange{
							name: strings.Join([]string{method, path, status, name}, " "), method: strings.ToUpper(method), path: withParameters(path, operation),
							status: status, contentType: "application/json",
						}
						e.read(t, operation, name, example)
						out = append(out, e)
					}
				}
			}
		}
	}
	return out
}

// withParameters puts the examples of the path's parameters into it.
func withParameters(path string, operation *v3.Operation) string {
	for _, parameter := range operation.Parameters {
		path = strings.ReplaceAll(path, "{"+parameter.Name+"}", parameter.Example.Value)
	}
	return path
}

// read takes the answer from the example of a response, and its request from
// the operation's example of the same name or from x-request.
func (e *exchange) read(t *testing.T, operation *v3.Operation, name string, example *base.Example) {
	require.NoError(t, example.Value.Decode(&e.want), e.name)
	var request struct {
		Method, Path, Raw, Setup string
		Excerpt                  bool
		Headers                  map[string]string
		Body                     any
	}
	if node, ok := example.Extensions.Get("x-request"); ok {
		require.NoError(t, node.Decode(&request), e.name)
	}
	var body any
	if operation.RequestBody != nil {
		sent := operation.RequestBody.Content.GetOrZero("application/json").Examples
		own, found := sent.Get(name)
		if !found { // any request does
			own = sent.First().Value()
		}
		require.NoError(t, own.Value.Decode(&body), e.name)
		e.requestIsValid = true
	}
	if request.Body != nil {
		body, e.requestIsValid = request.Body, false
	}
	var err error
	e.body, err = json.Marshal(body)
	require.NoError(t, err, e.name)
	if request.Raw != "" {
		e.body, e.requestIsValid = []byte(request.Raw), false
	}
	if request.Method != "" {
		e.method, e.requestIsValid = request.Method, false
	}
	if request.Path != "" {
		e.path, e.requestIsValid = request.Path, false
	}
	if contentType := request.Headers["Content-Type"]; contentType != "" {
		e.contentType = contentType
	}
	e.setup, e.excerpt = request.Setup, request.Excerpt
}

// do sends the exchange's request to a service of its own.
func (e *exchange) do(t *testing.T) (*http.Request, *http.Response, []byte) {
	t.Helper()
	// The limits are the service's own, which the examples name.
	service := newTestService(func(o *Options) {
		o.MaxBodyBytes, o.MaxBatchBytes, o.MaxBatchItems = 1<<20, 32<<20, 10_000
		if e.setup != "" {
			require.Contains(t, setups, e.setup)
			setups[e.setup](o, e)
		}
	})
	request := e.request()
	recorder := httptest.NewRecorder()
	service.ServeHTTP(recorder, request)
	response := recorder.Result()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	response.Body = io.NopCloser(bytes.NewReader(body))
	return e.request(), response, body
}

func (e *exchange) request() *http.Request {
	request := httptest.NewRequest(e.method, e.path, bytes.NewReader(e.body))
	request.Host = "127.0.0.1:8080"
	if e.method == http.MethodPost {
		request.Header.Set("Content-Type", e.contentType)
	}
	return request
}

func TestEveryExampleOfTheFileIsAnsweredAsItSays(t *testing.T) {
	d := readDescription(t)
	for _, e := range d.exchanges(t) {
		t.Run(e.name, func(t *testing.T) {
			request, response, body := e.do(t)
			if e.status != "default" {
				assert.Equal(t, e.status, strconv.Itoa(response.StatusCode))
			}
			e.compare(t, body)
			if e.requestIsValid && e.setup == "" {
				valid, errs := d.validator.ValidateHttpRequest(e.request())
				assert.True(t, valid, "the request is not as the file says: %v", errs)
			}
			d.validateResponse(t, request, response, body)
			d.checkRetry(t, e.body, body)
		})
	}
}

// uuids are new ones each time.
var uuids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

func (e *exchange) compare(t *testing.T, body []byte) {
	t.Helper()
	body = uuids.ReplaceAll(body, []byte("a-uuid"))
	text, isText := e.want.(string)
	switch {
	case isText && e.excerpt:
		assert.Contains(t, string(body), text)
	case isText:
		assert.Equal(t, text, string(body))
	default:
		want, err := json.Marshal(e.want)
		require.NoError(t, err)
		want = uuids.ReplaceAll(want, []byte("a-uuid"))
		if !e.excerpt {
			assert.JSONEq(t, string(want), string(body))
			return
		}
		var part, whole any
		require.NoError(t, json.Unmarshal(want, &part))
		require.NoError(t, yaml.Unmarshal(body, &whole)) // JSON is YAML
		assert.True(t, isPart(part, whole), "the answer does not hold %s", want)
	}
}

// isPart tells whether all members of part are in whole, and all elements of
// an array somewhere in the other.
func isPart(part, whole any) bool {
	switch p := part.(type) {
	case map[string]any:
		w, ok := whole.(map[string]any)
		for name, value := range p {
			ok = ok && isPart(value, w[name])
		}
		return ok
	case []any:
		w, ok := whole.([]any)
		for _, value := range p {
			ok = ok && slices.ContainsFunc(w, func(element any) bool { return isPart(value, element) })
		}
		return ok
	}
	return fmt.Sprint(part) == fmt.Sprint(whole) // whatever type a number got
}

// validateResponse holds a response against the file. 404 and 405 belong to no
// operation, and 500 is provoked on one alone: they are held against those of POST /v1/plan.
func (d *description) validateResponse(t *testing.T, request *http.Request, response *http.Response, body []byte) {
	t.Helper()
	if problem(response, "not_found", body) || problem(response, "method_not_allowed", body) || problem(response, "internal_error", body) {
		request = httptest.NewRequest(http.MethodPost, "/v1/plan", nil)
	}
	valid, errs := d.validator.ValidateHttpResponse(request, response)
	assert.True(t, valid, "the response is not as the file says: %v", errs)
}

func problem(response *http.Response, code string, body []byte) bool {
	return response.StatusCode >= 400 && bytes.Contains(body, []byte(`"error_code":"`+code+`"`))
}

// checkRetry makes sure that a retry has no field that neither the caller sent
// nor the file knows: the schema alone cannot tell, because it lets the
// caller's own fields pass.
func (d *description) checkRetry(t *testing.T, sent, answered []byte) {
	t.Helper()
	var item, answer map[string]json.RawMessage
	if json.Unmarshal(answered, &answer) != nil || string(answer["decision"]) != `"retry"` {
		return
	}
	require.NoError(t, json.Unmarshal(sent, &item))
	known := d.fieldsOf("RetryState")
	for name := range answer {
		if _, own := item[name]; !own {
			assert.Contains(t, known, name, "the file does not know this field of a retry")
		}
	}
}

func (d *description) fieldsOf(name string) []string {
	var out []string
	var collect func(*base.SchemaProxy)
	collect = func(p *base.SchemaProxy) {
		schema := p.Schema()
		for field := range schema.Properties.KeysFromOldest() {
			out = append(out, field)
		}
		for _, part := range schema.AllOf {
			collect(part)
		}
	}
	collect(d.model.Components.Schemas.GetOrZero(name))
	return out
}

func TestTheFileIsValidOpenAPI(t *testing.T) {
	valid, errs := readDescription(t).validator.ValidateDocument()
	assert.True(t, valid, "%v", errs)
}

var ginParameter = regexp.MustCompile(`:(\w+)`)

func TestTheFileHasExactlyTheRoutesThatAreServed(t *testing.T) {
	var served, described []string
	for _, route := range newTestService(nil).(*gin.Engine).Routes() {
		if route.Method == http.MethodHead || strings.HasPrefix(route.Path, docsPath+"/") {
			continue // every GET has a HEAD (RFC 9110 §9.3.2); the page's own files are no part of the service
		}
		served = append(served, route.Method+" "+ginParameter.ReplaceAllString(route.Path, "{$1}"))
	}
	for path, item := range readDescription(t).model.Paths.PathItems.FromOldest() {
		for method := range item.GetOperations().KeysFromOldest() {
			described = append(described, strings.ToUpper(method)+" "+path)
		}
	}
	assert.ElementsMatch(t, served, described)
}

func TestExamplesShowEveryRefusalAndEveryDecision(t *testing.T) {
	d := readDescription(t)
	var shown []string
	for _, e := range d.exchanges(t) {
		_, _, body := e.do(t)
		for _, found := range regexp.MustCompile(`"(error_code|decision)":"(\w+)"`).FindAllSubmatch(body, -1) {
			shown = append(shown, string(found[2]))
		}
	}
	for name, schema := range d.model.Components.Schemas.FromOldest() {
		for field, property := range schema.Schema().Properties.FromOldest() {
			if field != "error_code" && field != "decision" {
				continue
			}
			values := property.Schema().Enum
			if property.Schema().Const != nil {
				values = append(values, property.Schema().Const)
			}
			for _, value := range values {
				assert.Contains(t, shown, value.Value, "of %s.%s there is no example", name, field)
			}
		}
	}
}

// TestTheCheckItselfFindsWhatIsWrong guards against a validator that lets
// everything pass.
func TestTheCheckItselfFindsWhatIsWrong(t *testing.T) {
	d := readDescription(t)
	const success = `{"error_code":null,"attempts":1,"last_status":200,"decision":"success","next_request":false`
	const fault = `"errors":[{"field":"base","rule":"required","message":"m"}]`
	const state = `"max_attempts":3,"base":1,"exp_cap":30,"total_wait_budget":60`
	const retry = `{` + state + `,"error_code":null,"attempts":2,"last_status":429,"decision":"retry","next_request":true,"wait_seconds":1,"elapsed_wait":1`
	const stop = `{"attempts":1,"last_status":200,"decision":"stop","next_request":false,"error_code":`
	answers := map[string]struct {
		path   string
		status int
		body   string
		valid  bool
	}{
		"a success":                            {"/v1/plan", 200, success + `}`, true},
		"an unknown field in a success":        {"/v1/plan", 200, success + `,"extra":1}`, false},
		"a missing field":                      {"/v1/plan", 200, `{"error_code":null,"attempts":1,"decision":"success","next_request":false}`, false},
		"an unknown decision":                  {"/v1/plan", 200, strings.Replace(success, `"success"`, `"wait"`, 1) + `}`, false},
		"a number as a string":                 {"/v1/plan", 200, strings.Replace(success, `"attempts":1`, `"attempts":"1"`, 1) + `}`, false},
		"a retry":                              {"/v1/plan", 200, retry + `,"cursor":"x"}`, true},
		"a retry that returns data":            {"/v1/plan", 200, retry + `,"data":"x"}`, false},
		"a retry with a wait as a string":      {"/v1/plan", 200, strings.Replace(retry, `"wait_seconds":1`, `"wait_seconds":"1"`, 1) + `}`, false},
		"a code of another decision":           {"/v1/plan", 200, stop + `"unknown_outcome"}`, false},
		"faults outside a batch":               {"/v1/plan", 200, stop + `"invalid_state",` + fault + `}`, false},
		"faults in a batch":                    {"/v1/plan/batch", 200, `[` + stop + `"invalid_state",` + fault + `}]`, true},
		"invalid_state without faults":         {"/v1/plan/batch", 200, `[` + stop + `"invalid_state"}]`, false},
		"faults of a valid item":               {"/v1/plan/batch", 200, `[` + stop + `"cancelled",` + fault + `}]`, false},
		"an n8n item":                          {"/v1/plan/batch", 200, `[{"json":` + success + `},"pairedItem":{"item":0}}]`, true},
		"an n8n item whose answer is not one":  {"/v1/plan/batch", 200, `[{"json":{}}]`, false},
		"a status that the operation does not": {"/v1/plan", 204, ``, false},
		"a refusal with an unknown field": {"/v1/plan", 422,
			`{"type":"t","title":"t","status":422,"detail":"d","error_code":"invalid_state","extra":1}`, false},
	}
	for name, test := range answers {
		t.Run(name, func(t *testing.T) {
			recorder := httptest.NewRecorder()
			recorder.Header().Set("Content-Type", "application/json")
			if test.status >= 400 {
				recorder.Header().Set("Content-Type", "application/problem+json")
			}
			recorder.WriteHeader(test.status)
			recorder.WriteString(test.body)
			request := httptest.NewRequest(http.MethodPost, test.path, nil)
			valid, errs := d.validator.ValidateHttpResponse(request, recorder.Result())
			assert.Equal(t, test.valid, valid, fmt.Sprint(errs))
		})
	}
	items := map[string]struct {
		body  string
		valid bool
	}{
		"a status":                {`{"statusCode":429,` + state + `}`, true},
		"a status as a string":    {`{"statusCode":"429",` + state + `}`, true},
		"an error":                {`{"error":"timeout",` + state + `}`, true},
		"neither":                 {`{` + state + `}`, false},
		"null is neither":         {`{"statusCode":null,"error":null,` + state + `}`, false},
		"null elsewhere":          {`{"statusCode":429,"policy":null,"headers":null,"attempts":null,` + state + `}`, true},
		"no budget":               {`{"statusCode":429,"max_attempts":3,"base":1,"exp_cap":30}`, false},
		"a base of 0":             {`{"statusCode":429,"max_attempts":3,"base":0,"exp_cap":30,"total_wait_budget":60}`, false},
		"a misspelt policy field": {`{"statusCode":429,"policy":{"max_wiat":1},` + state + `}`, false},
		"not a number":            {`{"statusCode":429,"max_attempts":"three","base":1,"exp_cap":30,"total_wait_budget":60}`, false},
	}
	for name, test := range items {
		t.Run("item: "+name, func(t *testing.T) {
			request := httptest.NewRequest(http.MethodPost, "/v1/plan", strings.NewReader(test.body))
			request.Header.Set("Content-Type", "application/json")
			valid, errs := d.validator.ValidateHttpRequest(request)
			assert.Equal(t, test.valid, valid, fmt.Sprint(errs))
		})
	}
}
