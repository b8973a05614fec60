// Package envelope turns an n8n item into what the planner needs, and the
// planner's decision back into an item.
//
// Going in, it reads the outcome of the call (a response's status, headers and
// body, or an n8n error item), the attempt state, the request and the policy.
// Going out, it copies the caller's own members byte for byte: they are never
// decoded, so that number text, key order, Unicode escapes and nesting come
// back as they were sent. Retry-After and the providers' dialects live here.
package envelope
