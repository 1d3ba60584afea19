// The formula as its paper prints it, and the true guarantee at its parameters, side by side with the certified one.

import { urlOf } from "./api.js";
import { el } from "./dom.js";
import { STATUS, interval, noBetter, number } from "./words.js";

/** Draw the entries of printed readings; `titles` maps theorem ids to what they say. */
export function showPrinted(place, answer, titles) {
  const entries = answer.as_printed ?? [];
  if (!entries.length) {
    place.replaceChildren(el("p", { class: "hint" }, "No printed formula is evaluated for this algorithm. The figures above are certified."));
    return;
  }
  place.replaceChildren(el("ul", { class: "printed" }, entries.map((entry) => card(entry, answer, titles))));
}

function card(entry, answer, titles) {
  const verdict = judge(entry, answer);
  return el(
    "li",
    { class: `card ${verdict.kind}` },
    el(
      "h3",
      {},
      titles.get(entry.theorem) ?? entry.theorem,
      " ",
      el("a", { class: "id", href: urlOf(`guide/theorems/${entry.theorem}.html`) }, entry.theorem),
    ),
    el(
      "p",
      { class: "small" },
      el("strong", { class: `status ${entry.status}` }, STATUS[entry.status]),
      `, as the paper's ${words(entry.readings)} ${entry.readings.length > 1 ? "have" : "has"} it`,
    ),
    el(
      "dl",
      { class: "facts" },
      fact("Printed noise", noise(entry)),
      fact("Claimed privacy", `ε = ${number(claimedEpsilon(entry, answer))}`),
      fact("True privacy", entry.true ? truth(entry.true.epsilon) : "cannot be computed"),
      risks(entry, answer),
      fact("Certified", certified(answer)),
    ),
    el("p", { class: "verdict" }, verdict.text),
    conditions(entry),
  );
}

/** The ε that the readings claim: the target's, unless they say another. */
const claimedEpsilon = (entry, { guarantee }) => entry.claims?.epsilon ?? guarantee.target.epsilon;
const fact = (name, value) => el("div", {}, el("dt", {}, name), el("dd", {}, value));
const words = (list) => (list.length > 1 ? `${list.slice(0, -1).join(", ")} and ${list.at(-1)}` : list[0]);
const key = (parameters) => ["noise_std", "noise_multiplier"].find((name) => typeof parameters[name] === "number");

function noise({ parameters }) {
  const name = key(parameters);
  return name ? `${name === "noise_std" ? "σ" : "z"} = ${number(parameters[name])}` : "no usable noise";
}

function certified({ parameters, guarantee }) {
  const name = key(parameters);
  return `${name ? `${name === "noise_std" ? "σ" : "z"}\u00a0=\u00a0${number(parameters[name])}, ` : ""}ε\u00a0≤\u00a0${number(guarantee.epsilon.upper, 4, "up")}`;
}

/** The risks that the readings claim, a line for each different one; one that is no better than the start is marked. */
function risks(entry, answer) {
  const baseline = entry.claims?.baseline ?? answer.risk?.baseline;
  const readings = new Map();
  const own = (entry.by_reading ?? []).map(({ reading, ...claims }) => [[reading], claims]);
  for (const [names, claims] of [[entry.readings, entry.claims], ...own]) {
    if (claims?.excess_risk === undefined) continue;
    const text = `${number(claims.excess_risk, 4, "up")}${claims.vacuous && baseline ? `: ${noBetter(baseline)}` : ""}`;
    readings.set(text, [...(readings.get(text) ?? []), ...names]);
  }
  if (!readings.size) return null;
  if (readings.size === 1) return fact("Its risk, at most", [...readings.keys()][0]);
  return fact("Its risk, at most", el("ul", { class: "risks" }, [...readings].map(([text, names]) => el("li", {}, el("span", { class: "small" }, `${words(names)}: `), text))));
}

function truth(epsilon) {
  if (epsilon.lower === "unbounded") return "no finite ε";
  if (epsilon.lower === 0) return `ε ≤ ${number(epsilon.upper, 3, "up")}`;
  return `ε = ${interval(epsilon, 3)}`;
}

/** What came of the promise, in a sentence. */
function judge(printed, answer) {
  const claimed = claimedEpsilon(printed, answer);
  const real = printed.true?.epsilon;
  const value = (end) => (end === "unbounded" ? Infinity : end);
  if (!real) return { kind: "open", text: "The printed formula leaves a parameter open, so that its privacy cannot be computed." };
  if (value(real.lower) > claimed) {
    const much = real.lower === "unbounded" ? "no finite ε holds" : `the true ε is at least ${number(real.lower, 3, "down")}`;
    return { kind: "broken", text: `The claim is false here: ${much}, not ${number(claimed)}.` };
  }
  if (value(real.upper) > claimed * (1 + 1e-9)) return { kind: "open", text: "Whether the claim holds here is not decided: the claimed ε is between the two bounds." };
  const name = key(printed.parameters);
  const ratio = name && answer.parameters[name] ? printed.parameters[name] / answer.parameters[name] : null;
  const same = (printed.parameters.batch_size ?? answer.parameters.batch_size) === answer.parameters.batch_size; // absent where it is the request's
  let text = printed.status === "refuted" ? "For this run the printed ε holds" : "The claim holds here";
  if (ratio && same && ratio > 1.01) text += `, with ${number(ratio, 3)} times the noise that is needed`;
  else if (ratio && same && ratio > 0.99) text += ", with the noise that is needed";
  else if (ratio && !same) text += ", with another batch size";
  if (printed.status === "refuted") text += ". The formula is refuted nevertheless: it is false for other runs, or in another part";
  return { kind: "kept", text: `${text}.` };
}

/** The conditions that fail or are undecidable, for all readings or for one of them. */
function conditions(entry) {
  const open = [entry, ...(entry.by_reading ?? [])].flatMap((part) => part.conditions ?? []);
  const statements = new Map(open.filter(({ statement }) => statement).map(({ id, statement }) => [id, statement]));
  const failing = new Map();
  for (const condition of open) {
    const sides = condition.left !== undefined && condition.right !== undefined ? ` (here ${number(condition.left)} against ${number(condition.right)})` : "";
    failing.set(condition.id, `${condition.holds === "no" ? "Does not hold" : "Cannot be checked"}: ${statements.get(condition.id)}${sides}`);
  }
  if (!failing.size) return null;
  return el(
    "details",
    {},
    el("summary", {}, failing.size === 1 ? "One of its conditions is not met" : `${failing.size} of its conditions are not met`),
    el("ul", {}, [...failing.values()].map((text) => el("li", {}, text))),
  );
}
