// The plan as a user would write it in a workflow's Code node: Retry-After, a
// growing wait, the limits. It knows a small part of the planner's rules, and
// gives the same answers for them. now is in milliseconds.
const RETRYABLE = new Set([408, 425, 429, 500, 502, 503, 504]);
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']);

export function plan(item, now) {
  const { statusCode, attempts = 1, elapsed_wait = 0 } = item;
  const end = (decision, error_code) =>
    ({ error_code, attempts, last_status: statusCode, decision, next_request: false });

  if (statusCode >= 200 && statusCode < 300) return end('success', null);
  if (!RETRYABLE.has(statusCode)) return end('stop', 'status_not_retryable');
  if (item.method && !SAFE.has(item.method.toUpperCase()) && !item.idempotency_key) return end('escalate', 'retry_not_safe');

  let floor = 0;
  for (const [name, value] of Object.entries(item.headers ?? {})) {
    if (name.toLowerCase() !== 'retry-after') continue;
    floor = /^\d+$/.test(value) ? Number(value) : Math.max(0, Math.ceil((Date.parse(value) - now) / 1000));
    if (Number.isNaN(floor)) return end('stop', 'invalid_retry_after');
  }
  if (attempts >= item.max_attempts) return end('exhausted', 'retry_attempts_exhausted');

  const wait = Math.max(Math.min(item.exp_cap, item.base * 2 ** (attempts - 1)), floor);
  if (wait > (item.policy?.max_wait ?? Infinity)) return end('defer', 'retry_max_wait_exceeded');
  if (elapsed_wait + wait > item.total_wait_budget) return end('defer', 'retry_wait_budget_exceeded');

  const { data, error, statusMessage, ...rest } = item;
  return {
    ...rest, attempts: attempts + 1, elapsed_wait: elapsed_wait + wait, error_code: null,
    last_status: statusCode, decision: 'retry', next_request: true, wait_seconds: wait,
  };
}
