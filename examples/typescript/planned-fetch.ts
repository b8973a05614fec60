// A ready-made retry loop: a fetch that asks the planner after each call that
// failed. Copy it; it needs nothing but fetch and holds no retry rule of its own.

/** The attempt state of every new call, and the caller's own fields. */
export interface State {
  max_attempts: number;
  base: number;
  exp_cap: number;
  total_wait_budget: number;
  [field: string]: unknown;
}

/**
 * Gives a fetch that repeats calls as the planner says. After a terminal
 * decision the last response, or the last error, is what the caller gets. The
 * signal of a call ends the call, the question and the wait.
 */
export function plannedFetch(planner: string, first: State): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const key = request.headers.get("Idempotency-Key");
    let state: Record<string, unknown> = { ...first, method: request.method, ...(key ? { idempotency_key: key } : {}) };
    for (;;) {
      let response: Response | undefined;
      let failure: unknown;
      try {
        response = await fetch(request.clone());
        if (response.ok) return response;
      } catch (error) {
        request.signal.throwIfAborted();
        failure = error;
      }
      const answer = await plan(planner, { ...state, ...(response ? await described(response) : { error: named(failure) }) }, request.signal);
      if (answer["decision"] !== "retry") {
        if (response) return response;
        throw failure;
      }
      await response?.body?.cancel();
      await wait(Number(answer["wait_seconds"]), request.signal);
      state = answer;
    }
  };
}

/** What the planner needs to know of a response; the response stays unread. */
async function described(response: Response) {
  const text = await response.clone().text();
  let body: { body: unknown } | { data: string };
  try {
    body = { body: JSON.parse(text) };
  } catch {
    body = { data: text };
  }
  return { statusCode: response.status, headers: Object.fromEntries(response.headers), ...body };
}

/** Node names the fault in the cause of fetch's TypeError. */
function named(failure: unknown) {
  const error = failure instanceof Error && failure.cause instanceof Error ? failure.cause : failure;
  return error instanceof Error ? { name: error.name, message: error.message, ...("code" in error ? { code: error.code } : {}) } : String(error);
}

async function plan(planner: string, item: Record<string, unknown>, signal: AbortSignal): Promise<Record<string, unknown>> {
  const response = await fetch(`${planner}/v1/plan`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(item),
    signal,
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`plan the retry: ${answer.detail}`);
  return answer;
}

function wait(seconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, seconds * 1000);
    signal.addEventListener("abort", stop, { once: true });
  });
}
