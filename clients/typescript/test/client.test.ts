/** Answers, refusals and jobs of the service at EPSILOND_URL, through the installed package. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { answerOf, createEpsilondClient, Refused, type Schemas } from "epsilond-client";

const client = createEpsilondClient(process.env["EPSILOND_URL"] ?? "", { apiKey: process.env["EPSILOND_API_KEY"] ?? "" });
const problem: Schemas["GaussianProblem"] = {
  solve_for: "noise_multiplier",
  relation: "add-or-remove-one",
  unit: "record",
  observer: "released-models",
  sampling: "poisson",
  rate: 0.01,
  rounds: 1000,
  epsilon: 1.0,
  delta: 1e-6,
};

test("a calibration meets its target", async () => {
  const answer = await answerOf(client, await client.POST("/v1/calibrations/gaussian", { body: problem }));
  const upper = answer.guarantee.epsilon.upper;
  assert.ok(typeof upper === "number" && upper <= 1.0);
  assert.ok((answer.parameters.noise_multiplier ?? 0) > 1.5);
});

test("a refusal names the field", async () => {
  const refused = answerOf(client, await client.POST("/v1/calibrations/gaussian", { body: { ...problem, epsilon: -1 } }));
  await assert.rejects(refused, (error) => error instanceof Refused && error.problem.errors?.[0]?.pointer === "/epsilon");
});

test("a request that became a job is answered as a short one", async () => {
  const params = { path: { algorithm: "gaussian" }, header: { Prefer: "respond-async" } };
  const body = { ...problem, sweep: { field: "epsilon", values: [0.525, -1] } };
  const result = await client.POST("/v1/calibrations/{algorithm}/sweeps", { params, body });
  assert.equal(result.response.status, 202);
  const { answers } = await answerOf(client, result);
  assert.equal(answers[0]?.answer?.algorithm, "gaussian");
  assert.equal(answers[1]?.problem?.status, 422);
});
