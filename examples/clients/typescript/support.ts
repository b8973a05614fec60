// What both clients' tests share: where the services are, an API that answers
// by a script, and the items that lead to each decision.
import { type ClientRequest, createServer, request } from "node:http";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`set ${name}; examples/clients/run does`);
  return value;
}

/** An open service with the default limits. */
export const url = setting("TEST_PLANNER_URL");
/** A service with one API key, bodies of up to 1000 bytes, batches of up to 2 items, and one call at a time. */
export const strictUrl = setting("TEST_STRICT_PLANNER_URL");
export const key = setting("TEST_PLANNER_KEY");

/** Serves one answer after the other and counts the calls. */
export async function scriptedApi(...statuses: number[]) {
  let calls = 0;
  const server = createServer((_, response) => {
    const status = statuses[calls++] ?? 500;
    response.writeHead(status, { "Content-Type": "application/json", ...(status === 429 ? { "Retry-After": "0" } : {}) });
    response.end(JSON.stringify({ call: calls }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return { url: `http://127.0.0.1:${address.port}/`, calls: () => calls, close: () => server.close() };
}

/** Sends a call and gives what the planner needs to know of it. */
export async function outcomeOf(target: string) {
  const response = await fetch(target);
  const body: unknown = await response.json();
  return { statusCode: response.status, headers: Object.fromEntries(response.headers), body };
}

export const seconds = (n: number) => sleep(n * 1000);

/** Takes the strict service's only place until released. */
export function takeThePlace() {
  let held: ClientRequest;
  const take = () => {
    held = request(`${strictUrl}/v1/plan`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "Content-Length": 100, "X-API-Key": key },
    });
    held.on("error", () => undefined); // releasing breaks it off
    held.on("response", () => { // it is refused while another call has the place
      held.destroy();
      take();
    });
    held.flushHeaders();
  };
  take();
  return () => held.destroy();
}

/** The state of a loop, with a field of the caller's own. */
export const state = { max_attempts: 3, base: 0.01, exp_cap: "1", total_wait_budget: 5, cursor: "page 7" };

export const decisions = [
  { item: { ...state, statusCode: 503 }, decision: "retry", code: null },
  { item: { ...state, statusCode: 200 }, decision: "success", code: null },
  { item: { ...state, statusCode: 429, attempts: "3" }, decision: "exhausted", code: "retry_attempts_exhausted" },
  { item: { ...state, statusCode: 429, headers: { "retry-after": "9" } }, decision: "defer", code: "retry_wait_budget_exceeded" },
  { item: { ...state, statusCode: 429, headers: { "retry-after": "2" }, policy: { max_wait: 1 } }, decision: "defer", code: "retry_max_wait_exceeded" },
  { item: { ...state, statusCode: 429, policy: { deadline: 1 } }, decision: "defer", code: "retry_deadline_exceeded" },
  { item: { ...state, statusCode: 429, body: { error: { code: "insufficient_quota" } }, policy: { provider: "openai" } }, decision: "defer", code: "quota_exhausted" },
  { item: { ...state, statusCode: 404 }, decision: "stop", code: "status_not_retryable" },
  { item: { ...state, statusCode: 429, headers: { "retry-after": "soon" } }, decision: "stop", code: "invalid_retry_after" },
  { item: { ...state, error: { code: "CERT_HAS_EXPIRED" } }, decision: "stop", code: "network_permanent" },
  { item: { ...state, error: { code: "ERR_CANCELED" } }, decision: "stop", code: "cancelled" },
  { item: { ...state, error: { code: "ECONNABORTED" }, method: "POST" }, decision: "escalate", code: "unknown_outcome" },
  { item: { ...state, statusCode: 503, method: "POST" }, decision: "escalate", code: "retry_not_safe" },
];
