// ε as the run goes on: what is lost after each epoch, where the run stops, and what going on would cost.

import { post, several } from "./api.js";
import { accountOf } from "./profile.js";
import { coarseFirst, spread } from "./sweep.js";
import { number } from "./words.js";

const BEYOND = 2;
/** The picture goes on to so many times the rounds of the run. */
const POINTS = 13;

/** The share of the data in one round's batch, or null where a round has no batch. */
function rateOf({ mechanism }) {
  if (mechanism.kind !== "subsampled" || mechanism.level === "clients") return null;
  return mechanism.rate ?? mechanism.batch_size / mechanism.population;
}

/** {spec, rounds, rate, log10Delta} of an answer whose run is one mechanism repeated; null for others. */
export function courseOf(answer, body) {
  const spec = accountOf(answer, body, [])?.spec;
  const log10Delta = answer.guarantee.target.log10_delta;
  if (spec?.kind !== "repeated" || typeof log10Delta !== "number") return null;
  return { spec, rounds: spec.times, rate: rateOf(spec), log10Delta };
}

/**
 * Ask for ε after so many rounds, and hand pictures to drawn(picture) as points come. Returns false where the accountant
 * proves another ε for the whole run than the answer's own theorem does.
 */
export async function drawCourse({ answer, body, signal, asking }, { spec, rounds, rate, log10Delta }, drawn) {
  const { relation, unit, observer, epsilon } = answer.guarantee;
  const ask = async (times) => {
    const run = times > 1 ? { ...spec, times } : spec.mechanism;
    const { guarantee } = await post("v1/accounts", { spec: run, relation, unit, observer, query: { log10_delta: log10Delta } }, asking);
    return guarantee.epsilon.upper;
  };
  const whole = await ask(rounds);
  if (typeof whole !== "number" || Math.abs(whole - epsilon.upper) > 0.02 * epsilon.upper) return false;
  const points = new Map([[rounds, whole]]);
  const times = spread(1, BEYOND * rounds, POINTS, true).filter((each) => each !== rounds);
  const place = (round) => (rate ? round * rate : round);
  const picture = () => ({
    x: { label: rate ? "epochs" : "rounds R", show: (value, digits) => number(value, digits) },
    y: { label: "ε, at most" },
    series: [{ label: "certified, at the target's δ", kind: "certified", points: new Map([...points].map(([round, value]) => [place(round), value])) }],
    now: place(rounds),
    note: `The dotted line is where the run stops: after ${number(rounds)} rounds${rate ? `, ${number(place(rounds))} epochs` : ""}, at ε ≤ ${number(whole, 4, "up")}.${points.has(BEYOND * rounds) ? ` Twice as long would be ε ≤ ${number(points.get(BEYOND * rounds), 4, "up")}.` : ""}`,
  });
  drawn(picture());
  await several(coarseFirst([...times.filter((each) => each !== BEYOND * rounds), BEYOND * rounds]), ask, (round, value) => {
    if (signal.aborted || typeof value !== "number") return;
    points.set(round, value);
    drawn(picture());
  }, { signal });
  return true;
}
