/** Questions that the service makes jobs of, on a double of it that holds nothing: each look is answered at once. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";

import { answered, createEpsilondClient, type EpsilondOptions, Refused, type Schemas, StillRunning } from "../src/index.js";

const JOB = "/v1/jobs/job_1";
const ANSWER = { theorems: [] };
const INFEASIBLE = { type: "/problems/infeasible", title: "The target cannot be met", status: 409, detail: "No value." };
const BUSY = { type: "/problems/too-many-requests", title: "Too many", status: 429, detail: "Wait." };
const BODY = { epsilon: 1, delta: 1e-6 } as Schemas["PlanProblem"];

const problem = (body: { status: number }, headers = {}): Response =>
  new Response(JSON.stringify(body), {
    status: body.status,
    headers: { "content-type": "application/problem+json", ...headers },
  });

interface Told {
  looks?: number;
  end?: string;
  failed?: object;
  first?: (() => Response)[];
  streams?: string[];
}

/** Answers 202, then `looks` times that the job runs, then that it has ended; `first` goes before all that. */
function service({ looks = 1, end = "done", failed, first = [], streams = [] }: Told = {}) {
  const seen: Request[] = [];
  const cancelled = new EventTarget();
  const document = (state: string): object => ({
    id: "job_1",
    kind: "plan",
    state,
    progress: { done: 3, of: 10, seconds_spent: 4.5 },
    links: { self: JOB, events: `${JOB}/events` },
    ...(failed && state === end ? { problem: failed } : {}),
  });
  const event = (state: string, id: number): string =>
    `event: ${state === "running" ? "progress" : state}\nid: ${id}\ndata: ${JSON.stringify(document(state))}\n\n`;
  const fetch = async (request: Request): Promise<Response> => {
    seen.push(request);
    const before = first.shift();
    if (before) return before();
    const asked = `${request.method} ${new URL(request.url).pathname}`;
    if (request.method === "POST") return Response.json(document("queued"), { status: 202 });
    if (asked === `GET ${JOB}`) {
      looks -= 1;
      return Response.json(document(looks >= 0 ? "running" : end));
    }
    if (asked === `GET ${JOB}/result` && end === "done") return Response.json(ANSWER);
    if (asked === `GET ${JOB}/events`) {
      return new Response(streams.shift(), { headers: { "content-type": "text/event-stream" } });
    }
    if (asked === `DELETE ${JOB}`) {
      cancelled.dispatchEvent(new Event("cancelled"));
      return Response.json(document("cancelled"));
    }
    return problem({ ...INFEASIBLE, title: "The job has no result" } as { status: number });
  };
  const connect = (options: EpsilondOptions = {}) => createEpsilondClient("http://service/", { ...options, fetch });
  const asked = (): string[] => seen.map(({ method, url }) => `${method} ${new URL(url).pathname}`);
  return { client: connect(), connect, seen, asked, cancelled, event, streams };
}

test("a job is waited for, and its answer is the answer", async () => {
  const double = service();
  const told: (string | undefined)[] = [];
  const onProgress = ({ state, progress }: { state: string; progress?: { done?: number } }): void => {
    told.push(`${state} ${progress?.done}`);
  };
  const result = await double.client.waiting({ onProgress }).POST("/v1/plans", { body: BODY });
  assert.deepEqual(answered(result), ANSWER);
  assert.equal(result.response.status, 200);
  assert.deepEqual(double.asked(), ["POST /v1/plans", `GET ${JOB}`, `GET ${JOB}`, `GET ${JOB}/result`]);
  assert.deepEqual(told, ["queued 3", "running 3", "done 3"]);
  assert.equal(double.seen[1]?.headers.get("prefer"), "wait=20");
});

test("the problem of a job is that of a direct refusal", async () => {
  const direct = await service({ first: [() => problem(INFEASIBLE)] }).client.POST("/v1/plans", { body: BODY });
  const later = await service({ looks: 0, end: "failed", failed: INFEASIBLE }).client.POST("/v1/plans", { body: BODY });
  assert.deepEqual(later.error, direct.error);
  assert.equal(later.response.status, 409);
  assert.throws(() => answered(later), Refused);
});

test("a job that somebody else cancels has no result", async () => {
  const { error } = await service({ looks: 0, end: "cancelled" }).client.POST("/v1/plans", { body: BODY });
  assert.match(error?.title ?? "", /no result/);
});

test("a timeout leaves the job running, and it can be waited for again", async () => {
  const double = service();
  await assert.rejects(double.client.waiting({ timeout: 0 }).POST("/v1/plans", { body: BODY }), (error) => {
    assert.ok(error instanceof StillRunning);
    assert.equal(error.job.state, "queued");
    return true;
  });
  assert.deepEqual(double.asked(), ["POST /v1/plans"]);
  assert.equal(double.seen[0]?.headers.get("prefer"), "wait=0");
  const job = await double.client.job("job_1");
  assert.deepEqual(await job.result(), ANSWER);
});

test("without waiting there is a job", async () => {
  const double = service();
  const job = await double.client.start((asking) => asking.POST("/v1/plans", { body: BODY }));
  assert.equal(double.seen[0]?.headers.get("prefer"), "respond-async");
  assert.deepEqual([job.id, job.state, job.progress?.of], ["job_1", "queued", 10]);
  assert.equal((await job.refresh())?.state, "running");
  assert.deepEqual(await job.result(), ANSWER);
});

test("what is answered at once is a job that is done, and what is refused at once a refusal", async () => {
  const double = service({ first: [() => Response.json(ANSWER), () => problem(INFEASIBLE)] });
  const job = await double.client.start((asking) => asking.POST("/v1/plans", { body: BODY }));
  assert.deepEqual([job.id, job.state, await job.result()], [undefined, "done", ANSWER]);
  await job.cancel();
  await assert.rejects(double.client.start((asking) => asking.POST("/v1/plans", { body: BODY })), Refused);
  assert.equal(double.seen.length, 2);
});

test("an aborted wait cancels the job", async () => {
  const double = service({ looks: 1000 });
  const stop = new AbortController();
  const cancelled = once(double.cancelled as unknown as EventTarget, "cancelled");
  const asking = double.client
    .waiting({ onProgress: ({ state }) => state === "running" && stop.abort(new Error("enough")) })
    .POST("/v1/plans", { body: BODY, signal: stop.signal });
  await assert.rejects(asking, /enough/);
  await cancelled;
  assert.equal(double.asked().at(-1), `DELETE ${JOB}`);
});

test("a job is cancelled once", async () => {
  const double = service();
  const job = await double.client.start((asking) => asking.POST("/v1/plans", { body: BODY }));
  await job.cancel();
  assert.equal(job.state, "cancelled");
  await job.cancel();
  assert.deepEqual(double.asked(), ["POST /v1/plans", `DELETE ${JOB}`]);
});

test("events are followed over a broken stream to the end", async () => {
  const double = service();
  const [one, two, end] = [double.event("running", 1), double.event("running", 2), double.event("done", 3)] as const;
  double.streams.push(`: hello\n\n${one}${two.slice(0, 40)}`, two + end + one);
  const job = await double.client.start((asking) => asking.POST("/v1/plans", { body: BODY }));
  const states: string[] = [];
  for await (const { state } of job.events()) states.push(state);
  assert.deepEqual(states, ["running", "running", "done"]);
  assert.deepEqual(
    double.seen.slice(1).map(({ headers }) => headers.get("last-event-id")),
    [null, "1"],
  );
});

test("the problem of a job that was followed is thrown too", async () => {
  const failed: Record<string, unknown> = {};
  const double = service({ looks: 0, end: "failed", failed });
  double.streams.push(double.event("failed", 1).replace(/"problem":\{\}/, '"name":"plan"'));
  const job = await double.client.start((asking) => asking.POST("/v1/plans", { body: BODY }));
  for await (const { state, problem } of job.events()) assert.deepEqual([state, problem], ["failed", undefined]);
  Object.assign(failed, INFEASIBLE);
  await assert.rejects(job.result(), /No value/);
});

test("what is put off or broken is sent again under the same key", async () => {
  const broken = (): Response => {
    throw new TypeError("fetch failed");
  };
  const double = service({ first: [() => problem(BUSY, { "retry-after": "0" }), broken, () => Response.json(ANSWER)] });
  assert.deepEqual(answered(await double.client.POST("/v1/plans", { body: BODY })), ANSWER);
  const keys = new Set(double.seen.map(({ headers }) => headers.get("idempotency-key")));
  assert.equal(keys.size, 1);
  assert.match([...keys][0] ?? "", /^[0-9a-f]{32}$/);
  assert.deepEqual(await Promise.all(double.seen.map((each) => each.json())), [BODY, BODY, BODY]);
});

test("what waiting does not help is answered at once, and patience ends", async () => {
  for (const headers of [{}, { "retry-after": "86400" }]) {
    const double = service({ first: [() => problem(BUSY, headers)] });
    assert.equal((await double.client.POST("/v1/plans", { body: BODY })).error?.status, 429);
    assert.equal(double.seen.length, 1);
  }
  const busy = service({ first: Array.from({ length: 9 }, () => () => problem(BUSY, { "retry-after": "0" })) });
  assert.equal((await busy.client.POST("/v1/plans", { body: BODY })).error?.status, 429);
  assert.equal(busy.seen.length, 5);
});

test("a simulation that was taken in is an answer", async () => {
  const taken = { id: "sim_1", status: "queued", links: { self: "/v1/simulations/sim_1" } };
  const double = service({ first: [() => Response.json(taken, { status: 202 })] });
  const { data } = await double.client.POST("/v1/simulations", { body: {} as Schemas["AuditSimulation"] });
  assert.deepEqual(data, taken);
});
