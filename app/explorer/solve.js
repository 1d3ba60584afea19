// Which number is solved for, and what becomes of the body when another one is.

import { put } from "./state.js";

const HELD_IN = { noise_std: "noise_schedule", step_size: "step_schedule" };
/** Quantities that a request gives as a schedule. */

const fieldOf = (name, names) => (names.has(name) ? name : HELD_IN[name]);

/** The field that is solved for, and so is not asked. */
export function solvedBy(body, fields) {
  const solve = fields.find((field) => field.name === "solve_for");
  if (!solve) return undefined;
  return fieldOf(body.solve_for ?? solve.default, new Set(fields.map((field) => field.name)));
}

/**
 * The body when `wanted` is solved for in place of `before`: what was found before is given now, in short digits on the
 * side that keeps the answer possible.
 */
export function swap(body, wanted, before, answer, fields) {
  const names = new Set(fields.map((field) => field.name));
  const [taken, given] = [fieldOf(wanted, names), fieldOf(before, names)];
  if (taken === given) return body;
  let next = put(body, taken, undefined);
  if (taken === "delta") next = put(next, "log10_delta", undefined);
  const found = answer?.parameters?.[before];
  if (typeof found === "number" && next[given] === undefined) {
    const value = Number.isInteger(found) ? found : Number(found.toPrecision(3));
    next = put(next, given, given === before ? value : { kind: "constant", value });
  }
  if (names.has("batch_size") && wanted === "rate") next = put(next, "batch_size", undefined);
  return { ...next, solve_for: wanted };
}
