// The formula as its paper prints it, and the true guarantee at its parameters, side by side with the certified one.

import { urlOf } from "./api.js";
import { el } from "./dom.js";
import { STATUS, interval, noBetter, number } from "./words.js";

/** Draw the printed readings; `titles` maps theorem ids to what they say. */
export function showPrinted(place, answer, titles) {
  const groups = alike(answer.as_printed ?? []);
  if (!groups.length) {
    place.replaceChildren(el("p", { class: "hint" }, "No printed formula is read for this algorithm. The figures above are certified all the same."));
    return;
  }
  place.replaceChildren(el("ul", { class: "printed" }, groups.map((group) => reading(group, answer, titles))));
}

/** Readings that print the same noise with the same truth, as one. */
function alike(readings) {
  const groups = new Map();
  for (const each of readings) {
    const key = JSON.stringify([each.theorem, each.status, each.parameters.noise_std, each.true?.epsilon]);
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  return [...groups.values()];
}

function reading(group, answer, titles) {
  const [first] = group;
  const verdict = judge(first, answer);
  return el(
    "li",
    { class: `card ${verdict.kind}` },
    el(
      "h3",
      {},
      titles.get(first.theorem) ?? first.theorem,
      " ",
      el("a", { class: "id", href: urlOf(`guide/theorems/${first.theorem}.html`) }, first.theorem),
    ),
    el(
      "p",
      { class: "small" },
      el("strong", { class: `status ${first.status}` }, STATUS[first.status]),
      `, as the paper's ${words(group.map((each) => each.reading))} ${group.length > 1 ? "have" : "has"} it`,
    ),
    el(
      "dl",
      { class: "facts" },
      fact("It prints", noise(first)),
      fact("It promises", first.claims?.epsilon === undefined ? "no ε" : `ε = ${number(first.claims.epsilon)}`),
      fact("True there", first.true ? truth(first.true.epsilon) : "cannot be told"),
      claimed(group),
      fact("Certified", certified(answer)),
    ),
    el("p", { class: "verdict" }, verdict.text),
    conditions(group),
  );
}

const fact = (name, value) => el("div", {}, el("dt", {}, name), el("dd", {}, value));
const words = (list) => (list.length > 1 ? `${list.slice(0, -1).join(", ")} and ${list.at(-1)}` : list[0]);
const key = (parameters) => ["noise_std", "noise_multiplier"].find((name) => typeof parameters[name] === "number");

function noise({ parameters }) {
  const name = key(parameters);
  return name ? `${name === "noise_std" ? "σ" : "z"} = ${number(parameters[name])}` : "no noise that can be run";
}

function certified({ parameters, guarantee }) {
  const name = key(parameters);
  return `${name ? `${name === "noise_std" ? "σ" : "z"}\u00a0=\u00a0${number(parameters[name])}, ` : ""}ε\u00a0≤\u00a0${number(guarantee.epsilon.upper, 4, "up")}`;
}

/** The risks that these readings claim; one that is no better than the start is marked. */
function claimed(group) {
  const told = new Set(group.map(({ claims }) => claims).filter((claims) => claims?.excess_risk !== undefined).map(({ excess_risk, vacuous, baseline }) => `${number(excess_risk, 4, "up")}${vacuous ? `, ${noBetter(baseline)}` : ""}`));
  return told.size ? fact("Its risk, at most", [...told].join("; ")) : null;
}

function truth(epsilon) {
  if (epsilon.lower === "unbounded") return "no ε at all";
  if (epsilon.lower === 0) return `ε ≤ ${number(epsilon.upper, 3, "up")}`;
  return `ε = ${interval(epsilon, 3)}`;
}

/** What came of the promise, in a sentence. */
function judge(printed, answer) {
  const claimed = printed.claims?.epsilon;
  const real = printed.true?.epsilon;
  const value = (end) => (end === "unbounded" ? Infinity : end);
  if (!real || claimed === undefined) return { kind: "open", text: "What is printed leaves something open, so that its privacy cannot be computed." };
  if (value(real.lower) > claimed) {
    const much = real.lower === "unbounded" ? "no finite ε holds" : `the true ε is at least ${number(real.lower, 3, "down")}`;
    return { kind: "broken", text: `It breaks its promise here: ${much}, not ${number(claimed)}.` };
  }
  if (value(real.upper) > claimed * (1 + 1e-9)) return { kind: "open", text: "Whether it keeps its promise here is not decided: the two ends lie on either side." };
  const name = key(printed.parameters);
  const ratio = name && answer.parameters[name] ? printed.parameters[name] / answer.parameters[name] : null;
  const same = printed.parameters.batch_size === answer.parameters.batch_size;
  let text = "It keeps its promise here";
  if (ratio && same && ratio > 1.01) text += `, with ${number(ratio, 3)} times the noise that is needed`;
  else if (ratio && same && ratio > 0.99) text += ", with the noise that is needed";
  else if (ratio && !same) text += ", with another batch size";
  if (printed.status === "refuted") text += "; elsewhere, or in another part, it does not";
  return { kind: "kept", text: `${text}.` };
}

function conditions(group) {
  const failing = new Map();
  for (const each of group) {
    for (const condition of each.conditions ?? []) {
      if (condition.holds === true) continue;
      const sides = condition.left !== undefined && condition.right !== undefined ? ` (here ${number(condition.left)} against ${number(condition.right)})` : "";
      failing.set(condition.id, `${condition.holds === false ? "Does not hold" : "Cannot be checked"}: ${condition.statement}${sides}`);
    }
  }
  if (!failing.size) return null;
  return el(
    "details",
    {},
    el("summary", {}, failing.size === 1 ? "One of its conditions is not met" : `${failing.size} of its conditions are not met`),
    el("ul", {}, [...failing.values()].map((text) => el("li", {}, text))),
  );
}
