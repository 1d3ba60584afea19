// One problem for every algorithm, as a plan.

import { OBSERVERS } from "./adversary.js";
import { post } from "./api.js";

export const SHARED = ["epsilon", "delta", "log10_delta", "samples_per_client", "clients", "participants", "rounds", "dimension", "lipschitz", "diameter", "smoothness"];
const PROBLEM_OF = "mb-sgd";
/** The algorithm whose numbers stand in for what another one does not ask. */

/** The fields of a body that are among the properties. */
export const within = (body, properties) => Object.fromEntries(Object.entries(body).filter(([name]) => name in properties));

/** The problem on the screen, whole: what its algorithm does not ask is that of mini-batch SGD. */
function problemOf(body, examples) {
  const filled = { ...within(examples.get(PROBLEM_OF) ?? {}, Object.fromEntries(SHARED.map((name) => [name, true]))), ...body };
  if ("log10_delta" in body) delete filled.delta;
  if (filled.participants > filled.clients) filled.participants = filled.clients;
  return filled;
}

/**
 * Rows {name, algorithm, body, values: {risk, noise, signal, bits}, guarantee, objective, vacuous, baseline, open, why},
 * and beside them what is recommended and what every kind of trust leaves; `asking` is how it is asked.
 */
export async function compareAll({ contract, examples, body, asking }) {
  const problem = { ...problemOf(body, examples), observers: Object.keys(OBSERVERS) };
  const { entries, recommended, trusts } = await post("v1/plans", within(problem, contract.body("v1/plans").properties), asking);
  return { rows: entries.map(fromPlan), recommended, trusts };
}

const fromPlan = (entry) => ({
  name: entry.variant ? `${entry.algorithm} (${entry.variant})` : entry.algorithm,
  algorithm: entry.algorithm,
  body: entry.request,
  guarantee: entry.guarantee,
  objective: entry.objective,
  vacuous: entry.vacuous === true,
  baseline: entry.risk?.baseline,
  values: entry.applies === "yes" ? { risk: entry.risk?.value, noise: entry.noise_std, signal: entry.noise_to_signal, bits: entry.bits } : {},
  open: entry.applies === "undecidable",
  why: entry.applies === "yes" ? undefined : entry.why.map(worded).join("; "),
});

/** A message with the field it is about, unless it says so itself. */
function worded({ message, pointer }) {
  const field = pointer?.slice(1);
  return field && !message.includes(field) ? `${field}: ${message}` : message;
}
