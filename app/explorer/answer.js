// The answer in large: what to run with, what is certified of it, what is sent, what to expect.

import { adversary, odds } from "./adversary.js";
import { el, table } from "./dom.js";
import { OBJECTIVES, TIGHT, bits, capital, fromLog10, interval, meaning, noBetter, number, title, unitWord } from "./words.js";

/** The parameter that was asked for: what was solved for, else the noise. */
export function primary(answer, body) {
  const { parameters } = answer;
  return [body.solve_for, "noise_std", "noise_multiplier"].find((name) => typeof parameters[name] === "number");
}

/** Draw the figures of an answer; `described` are the schemas of its parameters. */
export function showAnswer(place, answer, body, described) {
  const name = primary(answer, body);
  place.replaceChildren(
    el("div", { class: "cards" }, main(answer, name, described), privacy(answer), communication(answer), risk(answer)),
    adversary(answer.guarantee),
    odds(answer.guarantee),
    el("details", { class: "all", open: !matchMedia("(max-width: 900px)").matches }, el("summary", {}, "Everything to run with"), parameters(answer, described)),
  );
}

/** The least of it in one line, for the foot of a small screen. */
export function brief({ parameters, guarantee, risk: expected }, body) {
  const name = primary({ parameters }, body);
  const symbol = { noise_std: "σ", noise_multiplier: "z" }[name] ?? (name && title(name).toLowerCase());
  const parts = [name ? `${symbol}\u00a0${number(parameters[name])}` : "σ\u00a0by\u00a0group", `ε\u00a0≤\u00a0${number(guarantee.epsilon.upper, 4, "up")}`];
  if (expected?.upper) parts.push(`risk\u00a0${expected.upper.constant === "explicit" ? "≤" : "of the order of"}\u00a0${number(expected.upper.value, 3, "up")}${expected.upper.vacuous ? ", which says nothing" : ""}`);
  return parts.join(" · ");
}

/** One sentence for those who listen. */
export function spoken(answer, body) {
  const name = primary(answer, body);
  const { guarantee, communication: sent, risk: expected } = answer;
  return [
    name ? `${title(name)} ${number(answer.parameters[name])}.` : "Noise differs by group.",
    `Epsilon is at most ${number(guarantee.epsilon.upper, 4, "up")} at delta ${number(guarantee.target.delta)}.`,
    sent ? `${bits(sent.bits_per_round_per_client)} per client and round.` : "",
    expected?.upper ? `Excess risk ${expected.upper.constant === "explicit" ? "at most" : "of the order of"} ${number(expected.upper.value, 3, "up")}${expected.upper.vacuous ? `, ${noBetter(expected.baseline)}` : ""}.` : "",
    answer.warnings.length ? `${answer.warnings.length} warnings.` : "",
  ].join(" ");
}

function card(kind, name, symbol, figure, ...rest) {
  return el(
    "article",
    { class: `card ${kind}` },
    el("h3", {}, name, symbol ? el("span", { class: "symbol" }, symbol) : null),
    el("p", { class: "figure" }, figure),
    rest,
  );
}

const small = (...children) => el("p", { class: "small" }, ...children);

function main(answer, name, described) {
  if (!name) return card("none lead", "Noise", "σ", "differs by group", small("Each group has its own noise; see the groups below. No single value applies to all groups."));
  const schema = described[name] ?? {};
  const told = meaning(schema, unitWord(answer.guarantee.unit));
  const names = { noise_std: ["Noise", "σ"], noise_multiplier: ["Noise multiplier", "z"], epsilon: ["Privacy loss", "ε"], delta: ["Failure probability", "δ"] };
  const [heading, symbol] = names[name] ?? [title(name), schema["x-symbol"]];
  const multiplier = answer.parameters.noise_multiplier;
  return card(
    "lead",
    heading,
    symbol,
    number(answer.parameters[name], 4),
    small(told ? `${capital(told)}.` : "The parameter that was solved for."),
    name === "noise_std" && multiplier ? small(`${number(multiplier)} times the largest possible contribution.`) : null,
    answer.guarantee.minimal === "proved" ? small("These proofs certify no smaller value.") : null,
  );
}

function privacy({ guarantee }) {
  const { epsilon, target, tight } = guarantee;
  const ends = { unknown: `at most ${number(epsilon.upper, 4, "up")}` }[tight] ?? interval(epsilon);
  const share = typeof epsilon.upper === "number" && epsilon.upper > 0 ? Math.max(0, Math.min(1, epsilon.lower / epsilon.upper)) : 0;
  const bar = el("span", { class: "between" });
  bar.style.marginLeft = `min(${100 * share}%, 100% - 6px)`;
  return card(
    "",
    "Certified privacy",
    "ε",
    ends,
    el("div", { class: "range", "aria-hidden": "true" }, bar),
    small(`at failure probability δ\u00a0=\u00a0${delta(target)}`),
    small(TIGHT[tight]),
  );
}

const delta = (target) => (target.delta ? number(target.delta, 3) : fromLog10(target.log10_delta));

function communication({ communication: sent }) {
  if (!sent) return null; // the algorithm says nothing of what is sent
  const beside = sent.extra_bits_per_coordinate;
  return card(
    "",
    "Communication",
    "bits",
    bits(sent.bits_per_round_per_client),
    small("from each client in each round"),
    small(`${number(sent.bits_per_coordinate)} bits a coordinate${beside ? `, ${number(beside)} of them for privacy` : ""}; ${bits(sent.total_bits)} in all.`),
  );
}

function risk({ risk: expected }) {
  if (!expected?.upper) return null; // no bound is known for this run, or a field that it needs is missing
  const { upper, lower, baseline, objective } = expected;
  return card(
    upper.vacuous ? "none vacuous" : "",
    "Excess risk",
    "F(w) − F*",
    `${upper.constant === "explicit" ? "at most" : "of the order of"} ${number(upper.value, 3, "up")}`,
    upper.vacuous ? el("p", { class: "small silent" }, el("strong", {}, "Says nothing: "), `${noBetter(baseline)}.`) : share(upper),
    objective ? small(`On ${OBJECTIVES[objective] ?? objective}.`, !upper.vacuous && baseline ? ` Without training it is at most ${number(baseline.value, 3, "up")} (${baseline.formula}).` : "") : null,
    lower ? small(`No method can do better than the order of ${number(lower.value, 3, "down")}${lower.constant === "hidden" ? " (its constant is not known)" : ""}.`) : null,
  );
}

/** What the risk is made of, where its terms add up to it. */
function share({ value, terms }) {
  const known = Object.entries(terms ?? {}).filter(([, term]) => typeof term === "number" && term > 0);
  const sum = known.reduce((total, [, term]) => total + term, 0);
  if (!known.length || Math.abs(sum - value) > 0.02 * value) return null;
  const segments = known.map(([, term], index) => {
    const part = el("span", { class: `part part-${index % 6}` });
    part.style.width = `${(100 * term) / sum}%`;
    return part;
  });
  const words = known.sort((one, other) => other[1] - one[1]).slice(0, 3).map(([name, term]) => `${name.replace(/_/g, " ")} ${Math.round((100 * term) / sum)} %`);
  return [el("div", { class: "stack", "aria-hidden": "true" }, segments), small(`Mostly ${words.join(", ")}.`)];
}

function parameters(answer, described) {
  const rows = Object.entries(answer.parameters).map(([name, value]) => [
    title(name),
    show(value),
    capital(meaning(described[name], unitWord(answer.guarantee.unit))),
  ]);
  return table("Everything to run with", ["Parameter", "Value", "What it is"], rows, { class: "parameters" });
}

const scalar = (value) => value === null || typeof value !== "object";

/** A value of any depth: small ones in a line, others to unfold. */
function show(value) {
  if (scalar(value)) return el("span", { class: "value", title: String(value) }, flat(value));
  const entries = Object.entries(value);
  if (entries.length <= 4 && entries.every(([, each]) => scalar(each))) return named(value, entries).join(", ");
  return el("details", {}, el("summary", {}, `${entries.length} ${Array.isArray(value) ? "entries" : "values"}`), tree(value));
}

const named = (value, entries) => entries.map(([name, each]) => (Array.isArray(value) ? flat(each) : `${name.replace(/_/g, " ")} ${flat(each)}`));

function tree(value) {
  const name = (key) => (Array.isArray(value) ? Number(key) + 1 : key.replace(/_/g, " "));
  const rows = Object.entries(value).map(([key, each]) => el("li", {}, `${name(key)}: `, scalar(each) ? flat(each) : tree(each)));
  return el("ul", { class: "tree" }, rows);
}

function flat(value) {
  if (typeof value === "number") return number(value, 6);
  if (typeof value === "boolean") return value ? "yes" : "no";
  return String(value);
}
