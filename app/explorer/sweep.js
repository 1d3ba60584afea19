// One field moved over many values: in one call where the service has sweeps, else in a few calls at a time.

import { Problem, calibrationPath, post, several } from "./api.js";
import { put } from "./state.js";

const refused = new Set();
/** Algorithms whose calibrations take no sweep. */

/** Values between two ends at equal ratios, short in digits; counts are whole and distinct. */
export function spread(low, high, count, integer = false) {
  const values = Array.from({ length: count }, (_, index) => low * (high / low) ** (index / (count - 1)));
  const short = values.map((value) => (integer ? Math.max(1, Math.round(Number(value.toPrecision(3)))) : Number(value.toPrecision(3))));
  return [...new Set(short)].sort((one, other) => one - other);
}

/** The ends first, then the middle, then between: a picture that gets finer. */
export function coarseFirst(values) {
  const order = [];
  for (let step = 1 << Math.ceil(Math.log2(values.length)); step >= 1; step >>= 1) {
    for (let index = 0; index < values.length; index += step) if (!order.includes(values[index])) order.push(values[index]);
  }
  return order;
}

/**
 * Calibrate at every value of a field; told(value, answer, problem) as they come. `perCall` is how many values one call
 * should take, so that a picture grows, `sweeps` whether the service says that it takes them, `asking` how each is asked.
 */
export async function sweep(algorithm, body, field, values, told, { signal, perCall, sweeps, asking }) {
  const path = calibrationPath(algorithm);
  const order = coarseFirst(values);
  const one = (value) => post(path, put(body, field, value), asking);
  if (!sweeps || refused.has(algorithm) || perCall < 2) return several(order, one, told, { signal });
  const rest = [...order];
  while (rest.length && !signal.aborted) {
    const part = rest.slice(0, Math.min(perCall, 200));
    try {
      const { answers } = await post(`${path}/sweeps`, { ...body, sweep: { field, values: part, true_figures: false } }, asking);
      for (const { value, answer, problem } of answers) told(value, answer ?? null, problem ?? null);
      rest.splice(0, part.length);
    } catch (error) {
      if (error.name === "AbortError") return undefined;
      if (!(error instanceof Problem)) throw error;
      if (error.status === 422) refused.add(algorithm);
      return several(rest, one, told, { signal }); // no sweeps here, or this one failed
    }
  }
  return undefined;
}
