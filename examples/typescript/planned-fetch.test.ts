import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";
import { plannedFetch } from "./planned-fetch.js";

const planner = process.env["TEST_PLANNER_URL"];
if (!planner) throw new Error("set TEST_PLANNER_URL; examples/clients/run does");

const state = { max_attempts: 3, base: 0.001, exp_cap: 1, total_wait_budget: 60 };

/** Serves one status after the other and keeps the bodies it got. */
async function scriptedApi(retryAfter: string, ...statuses: number[]) {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => (body += piece));
    request.on("end", () => {
      bodies.push(body);
      response.writeHead(statuses[Math.min(bodies.length, statuses.length) - 1] ?? 500, { "Retry-After": retryAfter });
      response.end(`answer ${bodies.length}`);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return { url: `http://127.0.0.1:${address.port}/`, bodies, close: () => server.close() };
}

test("the call is repeated, body and all, until it succeeds", async () => {
  const api = await scriptedApi("0", 429, 503, 200);
  try {
    const response = await plannedFetch(planner, state)(api.url, { method: "PUT", body: "hello" });
    assert.equal(await response.text(), "answer 3");
    assert.deepEqual(api.bodies, ["hello", "hello", "hello"]);
  } finally {
    api.close();
  }
});

for (const { name, method, retryAfter, status, calls } of [
  { name: "exhausted", method: "GET", retryAfter: "0", status: 429, calls: 3 },
  { name: "a wait over the budget", method: "GET", retryAfter: "61", status: 429, calls: 1 },
  { name: "a status that is not retried", method: "GET", retryAfter: "0", status: 404, calls: 1 },
  { name: "an unsafe method", method: "POST", retryAfter: "0", status: 503, calls: 1 },
]) {
  test(`a terminal decision gives the last response whole: ${name}`, async () => {
    const api = await scriptedApi(retryAfter, status);
    try {
      const response = await plannedFetch(planner, state)(api.url, { method });
      assert.equal(response.status, status);
      assert.equal(await response.text(), `answer ${calls}`);
      assert.equal(api.bodies.length, calls);
    } finally {
      api.close();
    }
  });
}

test("an idempotency key makes a POST safe", async () => {
  const api = await scriptedApi("0", 503, 201);
  try {
    const response = await plannedFetch(planner, state)(api.url, { method: "POST", body: "order", headers: { "Idempotency-Key": "order-1" } });
    assert.equal(response.status, 201);
    assert.deepEqual(api.bodies, ["order", "order"]);
  } finally {
    api.close();
  }
});

test("a refused connection is repeated and told", async () => {
  const api = await scriptedApi("0", 200);
  api.close();
  await assert.rejects(plannedFetch(planner, state)(api.url, { method: "POST" }), /fetch failed/);
});

test("the wait ends with the signal", async () => {
  const api = await scriptedApi("30", 429);
  try {
    const began = Date.now();
    await assert.rejects(plannedFetch(planner, state)(api.url, { signal: AbortSignal.timeout(300) }), { name: "TimeoutError" });
    assert.ok(Date.now() - began < 10_000);
    assert.equal(api.bodies.length, 1);
  } finally {
    api.close();
  }
});

test("the planner's refusal is told", async () => {
  const api = await scriptedApi("0", 429);
  try {
    await assert.rejects(plannedFetch(planner, { ...state, base: 0 })(api.url), /base must be more than 0 seconds/);
  } finally {
    api.close();
  }
});
