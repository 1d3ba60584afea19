/** Against the service at EPSILOND_URL: ./scripts/test-clients starts it. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { answered, createEpsilondClient, Refused, type Schemas } from "../src/index.js";

const url = process.env["EPSILOND_URL"];
assert.ok(url, "EPSILOND_URL says where the service is");
const client = createEpsilondClient(url);

const problem: Schemas["GaussianProblem"] = {
  solve_for: "noise_multiplier",
  relation: "add-or-remove-one",
  sampling: "poisson",
  rate: 0.01,
  rounds: 1000,
  epsilon: 1.0,
  delta: 1e-6,
};

test("a calibration is certified", async () => {
  const answer = answered(await client.POST("/v1/calibrations/gaussian", { body: problem }));
  assert.equal(answer.algorithm, "gaussian");
  assert.ok("guarantee" in answer); // not the answers of a sweep
  assert.ok(Number(answer.guarantee.epsilon?.upper) <= 1.0);
});

test("an account of a nested spec answers the same multiplier's epsilon", async () => {
  const calibrated = answered(await client.POST("/v1/calibrations/gaussian", { body: problem }));
  assert.ok("guarantee" in calibrated);
  const noise_multiplier = calibrated.parameters.noise_multiplier as number;
  const mechanism: Schemas["Subsampled"] = {
    kind: "subsampled",
    sampling: "poisson",
    rate: 0.01,
    mechanism: { kind: "gaussian", noise_multiplier },
  };
  const body: Schemas["AccountProblem"] = {
    spec: { kind: "repeated", times: 1000, mechanism },
    relation: "add-or-remove-one",
    query: { delta: 1e-6 },
  };
  const account = answered(await client.POST("/v1/accounts", { body }));
  const [lower, upper] = [Number(account.guarantee.epsilon?.lower), Number(account.guarantee.epsilon?.upper)];
  assert.ok(0.999 < lower && lower <= upper && upper <= 1.0, `${lower} ${upper}`);
});

test("what no run can have is refused, and the field is named", async () => {
  const result = await client.POST("/v1/calibrations/gaussian", { body: { ...problem, epsilon: -1.0 } });
  assert.equal(result.response.status, 422);
  assert.throws(
    () => answered(result),
    (error) => error instanceof Refused && /\/epsilon: .*\(allowed: > 0/.test(error.message),
  );
});

test("what cannot be met is refused with its condition", async () => {
  const body: Schemas["GaussianProblem"] = {
    solve_for: "rounds",
    relation: "replace-one",
    sampling: "full",
    noise_multiplier: 0.01,
    epsilon: 1.0,
    delta: 1e-6,
  };
  const result = await client.POST("/v1/calibrations/gaussian", { body });
  assert.equal(result.error?.status, 409);
  assert.equal(result.error?.type, "/problems/infeasible");
});

test("theorems are listed, and one of them is evaluated", async () => {
  const theorems = answered(await client.GET("/v1/theorems"));
  assert.ok(theorems.theorems.some((each) => each.id === "lowy.2.1"));
  const params = { path: { id: "balle-wang-2018.8" } };
  const body = { inputs: { noise_multiplier: 1.0, epsilon: 1.0, relation: "add-or-remove-one" } };
  const evaluated = answered(await client.POST("/v1/theorems/{id}/evaluations", { params, body }));
  assert.equal(evaluated.status, "proved");
  const { outputs_schema } = answered(await client.GET("/v1/theorems/{id}", { params }));
  assert.ok(outputs_schema && "delta" in (outputs_schema["properties"] as object));
});

test("a simulation is run to its end", async () => {
  const audit: Schemas["AuditSimulation"] = {
    kind: "audit",
    spec: { kind: "gaussian", noise_multiplier: 1.0 },
    relation: "add-or-remove-one",
    delta: 1e-5,
    seed: 1,
    samples: 2000,
  };
  const { data, response } = await client.POST("/v1/simulations", {
    body: audit,
    params: { header: { Prefer: "wait=30" } },
  });
  assert.equal(response.status, 200);
  assert.equal(data?.status, "done");
});

test("a long question is waited for, or left and looked at later", async () => {
  const told: unknown[] = [];
  const { signal } = new AbortController();
  const patient = client.waiting({ timeout: 600_000, onProgress: ({ state, progress }) => told.push([state, progress]) });
  const answer = answered(await patient.POST("/v1/calibrations/gaussian", { body: problem, signal }));
  const job = await client.start((asking) => asking.POST("/v1/calibrations/gaussian", { body: problem }));
  const later = await job.result();
  await job.cancel();
  assert.deepEqual([job.state, later], ["done", answer]);
});

test("a key is sent as a bearer token, and without one none is", async () => {
  const sent: (string | null)[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    sent.push(request.headers.get("authorization"));
    return Response.json({ theorems: [] });
  };
  await createEpsilondClient(url, { apiKey: "secret", fetch }).GET("/v1/theorems");
  await createEpsilondClient(url, { fetch }).GET("/v1/theorems");
  assert.deepEqual(sent, ["Bearer secret", null]);
});
