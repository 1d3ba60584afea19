/**
 * Ask a running service what noise to train with. Build clients/typescript first (npm ci && npm run build); then here
 *
 *     npm ci && npm run build && node dist/calibrate.js http://127.0.0.1:8000
 */
import { answered, createEpsilondClient, Refused, type Schemas } from "epsilond-client";

const client = createEpsilondClient(process.argv[2] ?? "http://127.0.0.1:8000");

const problem = (epsilon: number): Schemas["GaussianProblem"] => ({
  solve_for: "noise_multiplier",
  relation: "add-or-remove-one",
  sampling: "poisson",
  rate: 0.01,
  rounds: 1000,
  epsilon,
  delta: 1e-6,
});

for (const epsilon of [0.5, 1.0, 2.0]) {
  const answer = answered(await client.POST("/v1/calibrations/gaussian", { body: problem(epsilon) }));
  if (!("guarantee" in answer)) throw new Error("a sweep was not asked for");
  const certified = answer.guarantee.epsilon;
  console.log(
    `for ε = ${epsilon} run with noise multiplier ${answer.parameters.noise_multiplier}:`,
    `ε is within [${certified?.lower}, ${certified?.upper}]`,
  );
}

try {
  answered(await client.POST("/v1/calibrations/gaussian", { body: problem(-1.0) }));
} catch (error) {
  if (!(error instanceof Refused)) throw error;
  console.log(`refused: ${error.message}`);
}
