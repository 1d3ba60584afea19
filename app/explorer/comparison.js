// One problem for every algorithm: a plan where the service has plans, else one calibration after another.

import { calibrationPath, post, several } from "./api.js";

const SHARED = ["epsilon", "delta", "log10_delta", "samples_per_client", "clients", "participants", "rounds", "dimension", "lipschitz", "diameter", "smoothness"];
const PROBLEM_OF = "mb-sgd";
/** The algorithm whose numbers stand in for what another one does not ask. */

const within = (body, properties) => Object.fromEntries(Object.entries(body).filter(([name]) => name in properties));

/** The problem on the screen, whole: what its algorithm does not ask is that of mini-batch SGD. */
function problemOf(body, examples) {
  const filled = { ...within(examples.get(PROBLEM_OF) ?? {}, Object.fromEntries(SHARED.map((name) => [name, true]))), ...body };
  if ("log10_delta" in body) delete filled.delta;
  if (filled.participants > filled.clients) filled.participants = filled.clients;
  return filled;
}

/** Rows {name, algorithm, body, values: {risk, noise, bits}, guarantee, why}, told as they come. */
export async function compareAll({ contract, examples, algorithm, body, signal }, told) {
  const problem = problemOf(body, examples);
  if (contract.has("v1/plans")) {
    const { entries } = await post("v1/plans", within(problem, contract.body("v1/plans").properties), signal);
    told(entries.map(fromPlan), entries.length);
    return;
  }
  const rows = [];
  const bodies = [...examples].filter(([name]) => name !== "gaussian" || name === algorithm).map(([name, example]) => {
    const properties = contract.body(calibrationPath(name)).properties;
    return [name, name === algorithm ? body : translate(example, problem, properties)];
  });
  const add = ([name, asked], answer, refusal) => {
    rows.push(answer ? fromAnswer(name, asked, answer) : { name, algorithm: name, body: asked, values: {}, why: reason(refusal) });
    told(rows, bodies.length);
  };
  await several(bodies, ([name, asked]) => post(calibrationPath(name), asked, signal), add, { signal });
}

/** An algorithm's example with the shared numbers of the problem in it. */
function translate(example, problem, properties) {
  const shared = SHARED.filter((name) => name in problem && name in properties);
  const made = { ...example, ...Object.fromEntries(shared.map((name) => [name, problem[name]])) };
  if ("log10_delta" in problem) delete made.delta;
  if (made.batch_size > made.samples_per_client) made.batch_size = made.samples_per_client;
  return made;
}

const fromAnswer = (name, body, answer) => ({
  name,
  algorithm: name,
  body,
  guarantee: answer.guarantee,
  values: { risk: answer.risk?.upper?.value, noise: answer.parameters.noise_std, bits: answer.communication?.total_bits },
});

const fromPlan = (entry) => ({
  name: entry.variant ? `${entry.algorithm} (${entry.variant})` : entry.algorithm,
  algorithm: entry.algorithm,
  body: entry.request,
  guarantee: entry.guarantee,
  values: entry.applies === true ? { risk: entry.risk?.value, noise: entry.noise_std, bits: entry.bits } : {},
  why: entry.applies === true ? undefined : entry.why.map(told).join("; ") || "not answered in time",
});

/** A message with the field it is about, unless it says so itself. */
function told({ message, pointer }) {
  const field = pointer?.slice(1);
  return field && !message.includes(field) ? `${field}: ${message}` : message;
}

const reason = (refusal) => (refusal.errors?.[0] ? told(refusal.errors[0]) : refusal.detail);
