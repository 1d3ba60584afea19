// One ledger: its promise in words, its balances, its plan's curve, what rests on whom, and what proves it.

import { accessKey, urlOf, withKey, Problem } from "./api.js";
import { scarcest } from "./amounts.js";
import { legend, planTable, slotCard } from "./balances.js";
import { Chart } from "./chart.js";
import { el } from "./dom.js";
import { Entries } from "./entries.js";
import { stateOf, targetOf, whole } from "./ledger-list.js";
import { LedgerPicture } from "./ledger-picture.js";
import { Pending } from "./pending.js";
import { WhatIf } from "./what-if.js";
import { capital, fromLog10, number, unitWord } from "./words.js";

const date = (text) => text.replace("T", " ").replace(/(\.\d+)?Z$/, " UTC");
const RELATIONS = { "add-or-remove-one": "one is added or left out", "replace-one": "one is replaced" };

const section = (id, head, ...more) => el("section", { id, "aria-labelledby": `${id}-title` }, el("h2", { id: `${id}-title` }, head), ...more);
const facts = (pairs) => el("dl", { class: "facts wide" }, pairs.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));

const NO_EPSILON = "A run that was paid from this ledger differs from its record, so there is no ε.";

/** An observation as one sentence, with its count and its remedy. */
const observed = ({ premise, message, remedy, count }) => `${premise}: ${message} (${count === 1 ? "once" : `${count.toLocaleString("en-US")} times`}). ${remedy}`;

/** The promise, large enough to be read out, and what it is about. A contradicted ledger shows its observations instead. */
function promise(ledger) {
  const { guarantee, observations, target } = ledger;
  return el(
    "section",
    { class: "card lead", id: "promise", "aria-labelledby": "promise-title" },
    el("h2", { id: "promise-title" }, ledger.name),
    el("p", { class: "sentence" }, guarantee ? guarantee.in_words : NO_EPSILON),
    guarantee ? null : el("ul", { class: "plain", id: "observations" }, observations.map((each) => el("li", {}, observed(each)))),
    facts([
      ["Data", whole(ledger)],
      ["Target", targetOf(target)],
      ["Certified", guarantee ? `ε at most ${number(guarantee.epsilon, 6, "up")} at that δ` : "nothing: the ledger is contradicted"],
      ["State", stateOf(ledger)],
      ["Approval", ledger.approval ? "a second person approves amendments, voids and reconciliations" : "not needed"],
      ["Protected", `${unitWord(ledger.unit)}: ${RELATIONS[ledger.relation] ?? ledger.relation}`],
      ["Against", ledger.observer.replace(/-/g, " ")],
      ["Opened", date(ledger.opened)],
      ["Id", el("code", {}, ledger.id)],
    ]),
    guarantee ? el("p", { class: "small" }, "The target is for all releases of these data together: those that were made, and all that the ledger will still allow.") : null,
  );
}

/** What is not as it may look: in words and first. */
function remarks(ledger) {
  const found = ledger.warnings.map(({ message }) => message);
  if (ledger.state === "contradicted") found.unshift("This ledger is contradicted: nothing more is reserved or committed. Reservations may be cancelled.");
  else if (ledger.state === "closed") found.unshift("This ledger is closed: nothing more is reserved, and its block gets no other ledger.");
  else if (!ledger.sealed) found.unshift("This ledger is not sealed: nothing is reserved before its owner has declared that the membership of the block is fixed.");
  if (ledger.conditional) found.unshift("The promise is conditional: runs were voided, or decisions were declared independent of outputs. See what it rests on.");
  return found.length ? el("div", { class: "warnings" }, el("ul", {}, found.map((text) => el("li", {}, text)))) : null;
}

/** ε of exactly the plan at several δ. */
function curve({ curve: points, target }) {
  const chart = new Chart({ id: "plan-curve", title: "Privacy of exactly the plan", about: "What the plan loses if it is all that is run: a smaller δ needs a larger ε. Upper ends, certified." });
  const draw = () =>
    chart.draw({
      x: { label: "δ", show: (value, digits) => fromLog10(value, digits === 2 ? 2 : 4), incrs: [1, 2, 5, 10, 20, 50, 100] },
      y: { label: "ε, at most", show: (value, digits) => number(value, digits, "up") },
      series: [{ label: "ε of the plan", kind: "certified", points: new Map(points.map(({ log10_delta: log10, epsilon }) => [Math.round(1e9 * log10) / 1e9, epsilon])) }],
      now: target.log10_delta,
      note: `The dotted line is the target's δ. The target's ε is ${number(target.epsilon)}: what is between is for the slots.`,
    });
  return { place: chart.place, draw };
}

/** A document of the service, with the key where one is held: a plain link cannot send it. */
function link(path, name, text, told) {
  const save = async (event) => {
    if (!accessKey()) return;
    event.preventDefault();
    try {
      const response = await fetch(urlOf(path), { headers: withKey() });
      if (!response.ok) throw new Problem({ detail: `The service answered ${response.status}.`, status: response.status });
      const address = URL.createObjectURL(await response.blob());
      el("a", { href: address, download: name }).click();
      URL.revokeObjectURL(address);
      told.textContent = `${name} was saved.`;
    } catch (error) {
      told.textContent = error instanceof Problem ? error.message : "The service does not answer.";
    }
  };
  return el("a", { href: urlOf(path), onclick: save }, text);
}

function proofs(ledger) {
  const told = el("p", { class: "small", role: "status" });
  const item = (path, name, text, about) => el("li", {}, link(path, name, text, told), ` ${about}`);
  return section(
    "proofs",
    "Proofs and keys",
    el("ul", { class: "plain" }, [
      item(`v1/ledgers/${ledger.id}/report`, `${ledger.id}.html`, "The signed report", "of this ledger, under the log's head of now, as a page."),
      item("v1/log/checkpoint", "checkpoint.json", "The log's checkpoint", "Keep it elsewhere: a log that does not continue it was rewritten."),
      item("v1/keys", "keys.json", "The public keys", "that signatures are verified with."),
    ]),
    ledger.guarantee && el("p", { class: "small" }, "Theorems: ", ledger.guarantee.theorems.flatMap((id, index) => [index ? ", " : "", el("a", { class: "id", href: urlOf(`guide/theorems/${id}.html`) }, id)])),
    told,
  );
}

/** Show a ledger in `place`; what is asked later ends when `options.signal` does. */
export function showLedger(place, ledger, options) {
  const drawn = ledger.curve.length ? curve(ledger) : null;
  const entries = new Entries(ledger.id, options);
  const pending = ledger.approval ? new Pending(ledger, options) : null;
  const open = ledger.state === "open" && (ledger.plan.length || ledger.slots.length);
  const picture = ledger.slots.length ? new LedgerPicture(ledger, options) : null;
  const asked = open ? new WhatIf(ledger, { ...options, heard: (job) => picture?.stack(job) }) : null;
  place.replaceChildren(
    ...[
      el("nav", { class: "row", "aria-label": "Ledgers" }, el("a", { href: "#/" }, "All ledgers"), el("button", { type: "button", id: "look-again", onclick: options.again }, "Look again")),
      promise(ledger),
      remarks(ledger),
      pending && section("pending", "Waiting for a second person", pending.place),
      section("balances", "Remaining budget", ledger.runs_out_first && el("p", { id: "runs-out-first" }, `Runs out first: ${scarcest(ledger.runs_out_first)}.`), legend(), ledger.slots.length ? el("div", { class: "slots" }, ledger.slots.map((slot) => slotCard(slot, ledger.relation))) : el("p", { class: "hint" }, "It has no slots: nothing may be chosen by what comes out.")),
      picture?.place,
      section("plan", "The plan", ledger.plan.length ? planTable(ledger.plan) : el("p", { class: "hint" }, "Nothing is planned.")),
      drawn?.place,
      asked ? section("what-if", "What if", asked.place) : null,
      section("conditions", "Declared conditions", el("p", { class: "hint" }, "No computation can check these: the owner of the data declares them."), el("ul", { class: "plain" }, ledger.declared_conditions.map(({ id, statement }) => el("li", { "data-id": id }, `${capital(statement)}.`)))),
      section("entries", "Entries of the log, newest first", entries.place),
      proofs(ledger),
    ].filter(Boolean),
  );
  drawn?.draw();
  entries.start();
  pending?.start();
  picture?.start();
  asked?.start();
}
