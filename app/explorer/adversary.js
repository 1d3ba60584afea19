// Whom a guarantee is against, as a picture of the way that data takes; and what its ε means as a chance to guess.

import { el } from "./dom.js";
import { number, unitWord } from "./words.js";

const EYE = "M1 8s2.6-4.5 7-4.5S15 8 15 8s-2.6 4.5-7 4.5S1 8 1 8Zm7 2.25a2.25 2.25 0 1 0 0-4.5 2.25 2.25 0 0 0 0 4.5Z";
const SHIELD = "M8 1.5 13.5 3.5V8c0 3.2-2.3 5.4-5.5 6.5C4.8 13.4 2.5 11.2 2.5 8V3.5Z";
const UNTRUSTED = ["plain", "Server", "need not be trusted"];

/** Who has a hand in the data before anybody looks, for each kind of guarantee: what they are, who, what they do. */
const HANDS = {
  local: [["trusted", "Each client", "adds noise before anything leaves it"]],
  shuffle: [["trusted", "Each client", "sends its messages to the shuffler"], ["trusted", "Shuffler", "mixes the messages, drops their senders"]],
  central: [["trusted", "Each client", "sends what it has computed"], ["trusted", "Server", "keeps what the clients send to itself"]],
};
export const OBSERVERS = {
  server: ["observer", "Server", "sees every message, and whose it is"],
  "shuffled-server": ["observer", "Server", "sees every message, but not whose it is"],
  "released-models": ["observer", "Anyone", "sees the model after each round"],
  "final-model": ["observer", "Anyone", "sees the last model and nothing else"],
  "other-clients": ["observer", "All other clients", "see together every model they are sent"],
};
const NOTES = { trusted: "trusted", observer: "may look", plain: "not trusted" };

/** The way of the data, station by station; nothing for words that are not known here. */
function way({ definition, observer }) {
  const hands = HANDS[definition === "joint" ? "central" : definition];
  const last = OBSERVERS[observer];
  if (!hands || !last) return [];
  const server = last[1] === "Server" || hands.some(([, name]) => name === "Server") ? [] : [UNTRUSTED];
  return [...hands, ...server, last];
}

/** A small picture within a line. */
function icon(path) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [name, value] of Object.entries({ viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" })) made.setAttribute(name, value);
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  line.setAttribute("d", path);
  made.append(line);
  return made;
}

/** The way of the data with who is trusted on it and who looks, above the same in words. */
export function adversary(guarantee) {
  const stations = way(guarantee).map(([kind, name, does]) =>
    el("li", { class: `station ${kind}` }, el("span", { class: "note" }, kind === "plain" ? null : icon(kind === "trusted" ? SHIELD : EYE), NOTES[kind]), el("strong", {}, name), el("span", { class: "small" }, does)),
  );
  return el("figure", { class: "adversary", "aria-label": "Trusted parties and observers" }, stations.length ? el("ol", { class: "way" }, stations) : null, el("figcaption", { class: "against" }, guarantee.in_words));
}

/**
 * The most that a guess between two neighbouring data sets can be right, at even odds beforehand: (e^ε + δ)/(1 + e^ε).
 *
 * Of any test under (ε, δ), 1 − false negatives ≤ e^ε · false positives + δ and the other way round; the sum of both errors
 * is least where the two lines meet, 2(1 − δ)/(1 + e^ε). Half of it is the chance to be wrong.
 */
export const rightAtMost = (epsilon, delta) => (epsilon === "unbounded" ? 1 : 1 - (1 - delta) / (1 + Math.exp(epsilon)));

/** What ε and δ mean, in a sentence each. */
export function odds({ unit, epsilon, target }) {
  const delta = target.delta ?? 10 ** target.log10_delta;
  const right = Math.min(100, 100 * rightAtMost(epsilon.upper, delta) * (1 + 1e-12));
  return el(
    "p",
    { class: "odds" },
    "An attacker guesses from everything that it sees which of two equally likely data sets was used, which differ in one ",
    unitWord(unit),
    ". The guess is right at most ",
    el("strong", {}, `${number(right, 3, "up")} %`),
    " of the time. A blind guess is right 50 % of the time.",
  );
}
