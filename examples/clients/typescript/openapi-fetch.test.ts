// The client of openapi-typescript and openapi-fetch against a running service.
import assert from "node:assert/strict";
import { test } from "node:test";
import createClient from "openapi-fetch";
import type { components, paths } from "./generated/fetch/schema.js";
import { decisions, key, outcomeOf, scriptedApi, seconds, state, strictUrl, takeThePlace, url } from "./support.js";

type Schemas = components["schemas"];

const planner = createClient<paths>({ baseUrl: url });
const strict = createClient<paths>({ baseUrl: strictUrl, headers: { "X-API-Key": key } });

/** Every member of the union has its own fields once `decision` is known. */
function tell(answer: Schemas["Answer"]): string {
  switch (answer.decision) {
    case "retry":
      return `after ${answer.wait_seconds.toFixed(2)} s call ${answer.attempts}`;
    case "success":
      return `${answer.last_status}`;
    case "exhausted":
    case "defer":
    case "stop":
    case "escalate":
      return answer.error_code;
    default:
      return answer satisfies never;
  }
}

test("a whole loop: 429, 429, 200", async () => {
  const api = await scriptedApi(429, 429, 200);
  try {
    let item: Schemas["Item"] = { ...state };
    for (;;) {
      const { data, error } = await planner.POST("/v1/plan", { body: { ...item, ...(await outcomeOf(api.url)) } });
      if (error) throw new Error(error.detail);
      if (data.decision !== "retry") {
        assert.equal(data.decision, "success");
        assert.equal(data.attempts, 3);
        break;
      }
      assert.equal(data["cursor"], "page 7");
      await seconds(data.wait_seconds);
      item = data;
    }
    assert.equal(api.calls(), 3);
  } finally {
    api.close();
  }
});

for (const { item, decision, code } of decisions) {
  test(`decision ${decision} ${code ?? ""}`, async () => {
    const { data, error } = await planner.POST("/v1/plan", { body: item });
    assert.equal(error, undefined);
    assert.ok(data);
    assert.equal(data.decision, decision);
    assert.equal(data.error_code, code);
    assert.notEqual(tell(data), "");
  });
}

test("the reason, with policy.explain", async () => {
  const { data } = await planner.POST("/v1/plan", { body: { ...state, statusCode: 503, policy: { explain: true, jitter: "none" } } });
  assert.equal(data?.explain?.wait?.total, 0.01);
});

test("a batch, flat and as n8n items", async () => {
  const { data } = await planner.POST("/v1/plan/batch", {
    body: [{ ...state, statusCode: 503 }, { json: { ...state, statusCode: 404 }, pairedItem: 1 }, { json: { ...state }, pairedItem: 2 }],
  });
  assert.ok(data);
  const told = data.map((answer) => {
    const plan = "decision" in answer ? answer : answer.json;
    return plan.decision === "stop" && plan.errors ? plan.errors.map((fault) => fault.field) : plan.decision;
  });
  assert.deepEqual(told, ["retry", "stop", ["statusCode"]]);
});

test("an admit and its report", async () => {
  const task = { ...state, gate: { resource: "openapi-fetch", rate: { limit: 1, window: 1 } } };
  const { data: first } = await planner.POST("/v1/admit", { body: task });
  assert.ok(first?.decision === "go");
  const { data: second } = await planner.POST("/v1/admit", { body: task });
  assert.ok(second?.decision === "wait");
  assert.equal(second.error_code, "rate_window_full");
  assert.ok(second.wait_seconds > 0);
  const { data: report } = await planner.POST("/v1/plan", { body: { ...first, statusCode: 200 } });
  assert.equal(report?.decision, "success");
});

test("the providers", async () => {
  const { data } = await planner.GET("/v1/providers");
  assert.ok(data?.providers.some((provider) => provider.name === "standard"));
});

async function refusal(answer: Promise<{ error?: Schemas["Problem"] }>, status: number, code: Schemas["Problem"]["error_code"]) {
  const { error } = await answer;
  assert.ok(error);
  assert.equal(error.status, status);
  assert.equal(error.error_code, code);
  assert.notEqual(error.detail, "");
  return error;
}

const item = { ...state, statusCode: 503 };

test("each refusal is a typed error", async () => {
  await refusal(planner.POST("/v1/plan", { body: item, bodySerializer: () => "{" }), 400, "malformed_json");
  await refusal(createClient<paths>({ baseUrl: strictUrl }).POST("/v1/plan", { body: item }), 401, "unauthorized");
  await refusal(createClient<paths>({ baseUrl: `${url}/nowhere` }).POST("/v1/plan", { body: item }), 404, "not_found");
  await refusal(planner.POST("/v1/plan", { body: item, fetch: () => fetch(`${url}/v1/plan`, { method: "PUT" }) }), 405, "method_not_allowed");
  await refusal(strict.POST("/v1/plan", { body: { ...item, padding: "x".repeat(1000) } }), 413, "body_too_large");
  await refusal(strict.POST("/v1/plan/batch", { body: [item, item, item] }), 413, "batch_too_large");
  await refusal(planner.POST("/v1/plan", { body: item, headers: { "Content-Type": "text/plain" } }), 415, "unsupported_media_type");
  const invalid = await refusal(planner.POST("/v1/plan", { body: { ...item, base: 0 } }), 422, "invalid_state");
  assert.deepEqual(invalid.errors?.map((fault) => fault.field), ["base"]);
});

test("an overload is a typed error", async () => {
  const release = takeThePlace();
  try {
    const until = Date.now() + 5000;
    for (;;) {
      const { error, response } = await strict.POST("/v1/plan", { body: item });
      if (error) {
        assert.equal(error.error_code, "overloaded");
        assert.equal(response.headers.get("Retry-After"), "1");
        return;
      }
      assert.ok(Date.now() < until, "the place is never taken");
    }
  } finally {
    release();
  }
});
