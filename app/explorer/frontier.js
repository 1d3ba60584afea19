// Where rounds or batch size were left open: risk against rounds and traffic, and the run that was chosen.

import { bits, number } from "./words.js";

const HEAD = ["Rounds", "Batch size", "Excess risk at most", "Bits per client", "Bits in all", "Noise σ", ""];
const ESTIMATED = " A bound at an estimated noise is not a certificate: give those rounds and that batch size to have one.";

/** The picture of an answer's frontier, for a chart; null where nothing was left open. */
export function frontierOf({ frontier, parameters }) {
  if (parameters?.frontier) return ofRounds(parameters.frontier);
  if (!frontier) return null;
  const known = frontier.filter(({ risk }) => typeof risk === "number");
  const points = (some) => new Map(some.map(({ rounds, risk }) => [rounds, risk]));
  const certified = known.filter((run) => run.certified);
  const estimated = { label: "all, some estimated", kind: "lower", points: points(known) };
  const chosen = frontier.find((run) => run.chosen);
  return {
    x: { label: "rounds R", log: true },
    y: { label: "excess risk", log: true },
    now: chosen.rounds,
    series: [
      { label: "certified", kind: "certified", points: points(certified) },
      ...(certified.length < known.length ? [estimated] : []),
    ],
    note: `The answer takes ${number(chosen.rounds)} rounds and ${bits(chosen.bits_per_client)} from a client that takes part in each of them.${certified.length < frontier.length ? ESTIMATED : ""}`,
    table: { head: HEAD, rows: frontier.map(row) },
  };
}

/** Noise of the mean against rounds, all of it certified. */
function ofRounds(runs) {
  const chosen = runs.find((run) => run.chosen);
  return {
    x: { label: "rounds R", log: true },
    y: { label: "share of the start's risk left", log: true },
    now: chosen.rounds,
    series: [{ label: "certified", kind: "certified", points: new Map(runs.map(({ rounds, remaining_share }) => [rounds, remaining_share])) }],
    note: `The answer takes ${number(chosen.rounds)} rounds. The share is an upper bound for one gradient step per round; a share of 1 or more is not information.`,
    table: {
      head: ["Rounds", "Noise multiplier", "Noise norm of the mean", "Share left at most", "Reports per client", "Bits in all", ""],
      rows: runs.map((run) => [
        number(run.rounds),
        number(run.noise_multiplier),
        number(run.noise_norm_of_mean),
        number(run.remaining_share, 3, "up"),
        number(run.reports_per_client),
        bits(run.total_bits),
        run.chosen ? "the answer" : "",
      ]),
    },
  };
}

const row = (run) => [
  number(run.rounds),
  number(run.batch_size),
  `${run.certified ? "" : "about "}${number(run.risk, 3, "up")}`,
  bits(run.bits_per_client),
  bits(run.total_bits),
  `${run.certified ? "" : "about "}${number(run.noise_std)}`,
  [run.chosen ? "the answer" : "", run.certified ? "certified" : "estimated", run.vacuous ? "no better than the start" : ""].filter(Boolean).join(", "),
];
