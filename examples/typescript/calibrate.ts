/**
 * Calibrate with a running service:
 *
 *     npm install && npx tsc && node dist/calibrate.js http://127.0.0.1:8000
 */
import { answerOf, createEpsilondClient, Refused, type Schemas } from "epsilond-client";

const [baseUrl = "http://127.0.0.1:8000", apiKey] = process.argv.slice(2);
const client = createEpsilondClient(baseUrl, apiKey === undefined ? {} : { apiKey });

async function calibrate(epsilon: number): Promise<Schemas["Calibration"]> {
  const body: Schemas["GaussianProblem"] = {
    solve_for: "noise_multiplier",
    relation: "add-or-remove-one",
    unit: "record",
    observer: "released-models",
    sampling: "poisson",
    rate: 0.01,
    rounds: 1000,
    epsilon,
    delta: 1e-6,
  };
  return answerOf(client, await client.POST("/v1/calibrations/gaussian", { body }));
}

for (const target of [0.5, 1.0, 2.0]) {
  const { guarantee, parameters } = await calibrate(target);
  console.log(
    `for ε = ${target} run with noise multiplier ${parameters.noise_multiplier}:`,
    `ε is within [${guarantee.epsilon.lower}, ${guarantee.epsilon.upper}]`,
  );
}

try {
  await calibrate(-1.0);
} catch (error) {
  if (!(error instanceof Refused)) throw error;
  console.log(`refused: ${error.message}`);
}
