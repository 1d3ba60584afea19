// What a job would cost a ledger, asked while a hand moves a slider. It changes nothing.

import { Problem, post } from "./api.js";
import { KINDS, said, scarcest } from "./amounts.js";
import { el } from "./dom.js";
import { mostThatFit } from "./fitting.js";
import { news } from "./progress.js";
import { slider } from "./slider.js";
import { number, title } from "./words.js";

const PAUSE = 180;
/** Milliseconds a hand may rest before the service is asked. */
const SLOW = 500;
/** Milliseconds after which it is said that there is no answer yet. */

const NOISE = { name: "noise_multiplier", minimum: 0, open: true, required: true };
const RATE = { name: "rate", minimum: 0, maximum: 1, open: true, required: true };
const SCALE = { name: "scale_multiplier", minimum: 0, open: true, required: true };
const COUNT = { name: "count", integer: true, minimum: 1, maximum: 1e15, required: true };

/** Mechanisms that may be asked about, with what moves them. */
const SHAPES = {
  gaussian: { name: "Gaussian noise", fields: [NOISE], start: { noise_multiplier: 20, count: 1 }, spec: ({ noise_multiplier }) => ({ kind: "gaussian", noise_multiplier }) },
  subsampled: {
    name: "Gaussian noise on a random batch",
    fields: [NOISE, RATE],
    start: { noise_multiplier: 1, rate: 0.01, count: 1000 },
    spec: ({ noise_multiplier, rate }) => ({ kind: "subsampled", sampling: "poisson", rate, mechanism: { kind: "gaussian", noise_multiplier } }),
  },
  laplace: { name: "Laplace noise", fields: [SCALE], start: { scale_multiplier: 20, count: 1 }, spec: ({ scale_multiplier }) => ({ kind: "laplace", scale_multiplier }) },
};
const HINTS = {
  noise_multiplier: "σ over the most that one unit can contribute",
  scale_multiplier: "Laplace scale over the most that one unit can contribute, in the ℓ1 norm",
  rate: "chance with which each unit is in a batch",
  count: "runs of the mechanism",
};

export class WhatIf {
  constructor(ledger, options) {
    this.ledger = ledger;
    this.options = options;
    this.stop = new AbortController();
    options.signal.addEventListener("abort", () => (clearTimeout(this.waiting), this.stop.abort()));
    this.all = { item: { count: 1 }, ...Object.fromEntries(Object.entries(SHAPES).map(([shape, { start }]) => [shape, { ...start }])) };
    const sources = [...ledger.slots.map(({ kind }) => [`slot:${kind}`, KINDS[kind]]), ...ledger.plan.map(({ name }) => [`item:${name}`, `Plan: ${name}`])];
    this.source = this.select("source", sources);
    this.shape = this.select("shape", Object.entries(SHAPES).map(([value, { name }]) => [value, name]));
    if (ledger.slots[0]?.kind === "pure") this.shape.value = "laplace";
    this.shapeField = this.field("shape", "Mechanism", null, [this.shape]);
    this.fields = el("div");
    this.answer = el("div", { id: "what-if-answer", class: "card", "aria-live": "polite" });
    const form = el("form", { class: "card", autocomplete: "off", "aria-label": "A job", onsubmit: (event) => event.preventDefault() }, this.field("source", "From", null, [this.source]), this.shapeField, this.fields);
    this.place = el("div", { class: "asking" }, form, this.answer);
  }

  select(name, choices) {
    return el("select", { id: `w-${name}`, onchange: () => this.start() }, choices.map(([value, text]) => el("option", { value }, text)));
  }

  field(name, label, hint, parts) {
    const about = hint ? el("p", { class: "about", id: `w-${name}-about` }, hint) : null;
    const [box, ...others] = parts;
    return el("div", { class: `field${others.length ? "" : " choice"}` }, el("label", { for: `w-${name}`, id: `w-${name}-label` }, label), box, others, about);
  }

  number(field) {
    const ids = { input: `w-${field.name}`, label: `w-${field.name}-label`, describedBy: `w-${field.name}-about` };
    const { parts } = slider(field, this.values[field.name], ids, (value) => {
      if (typeof value !== "number") return;
      this.values[field.name] = value;
      this.changed();
    });
    return this.field(field.name, title(field.name), HINTS[field.name], parts);
  }

  /** The numbers of what is chosen; each shape keeps its own. */
  get values() {
    return this.all[this.source.value.startsWith("slot:") ? this.shape.value : "item"];
  }

  /** Draw the fields of what is chosen, and ask. */
  start() {
    const ofSlot = this.source.value.startsWith("slot:");
    this.shapeField.hidden = !ofSlot;
    const moved = ofSlot ? SHAPES[this.shape.value].fields : [];
    this.fields.replaceChildren(...[...moved, COUNT].map((field) => this.number(field)));
    this.changed(0);
  }

  /** The question of now without its count; the spec is another each time that a number is. */
  job() {
    const [kind, name] = [this.source.value.slice(0, 4), this.source.value.slice(5)];
    return kind === "slot" ? { slot: name, spec: SHAPES[this.shape.value].spec(this.values) } : { item: name };
  }

  changed(pause = PAUSE) {
    this.stop.abort(); // what is asked for numbers that have moved is given up at once
    clearTimeout(this.waiting);
    this.answer.dataset.state = "asking";
    this.answer.setAttribute("aria-busy", "true");
    this.waiting = setTimeout(() => this.ask(), pause);
  }

  async ask() {
    const stop = (this.stop = new AbortController());
    const job = this.job();
    const count = this.values.count;
    const told = (each) => stop === this.stop && each.state === "busy" && this.show("asking", el("p", {}, news(each)));
    const asked = (runs) => post(`v1/ledgers/${this.ledger.id}/what-if`, { ...job, count: runs }, { signal: stop.signal, told });
    const slow = setTimeout(() => stop === this.stop && this.show("asking", el("h3", {}, "Being computed"), el("p", {}, "A job whose charges do not simply add up takes longer.")), SLOW);
    try {
      const answer = await asked(count);
      clearTimeout(slow);
      if (stop !== this.stop) return;
      this.hear(job, answer);
      const room = el("p", { class: "room", id: "what-if-room" }, "How many of this shape fit is being computed.");
      this.show(answer.fits ? "fits" : "refused", ...verdict(answer, count), room);
      const found = await mostThatFit(this.ledger, job, count, answer, asked, (most) => stop === this.stop && (room.textContent = words(most)));
      if (stop === this.stop) room.textContent = words(found);
    } catch (error) {
      if (error.name === "AbortError" || stop !== this.stop) return;
      if (!(error instanceof Problem)) throw error;
      this.show("failed", el("h3", {}, "No answer"), el("p", {}, [error.message, ...(error.body.errors ?? []).map(({ message, allowed }) => ` It ${message}${allowed ? ` (allowed: ${allowed})` : ""}.`)].join("")));
    } finally {
      clearTimeout(slow);
    }
  }

  /** Hand a job of a slot whose charges add up to whoever draws it. */
  hear({ slot }, { fits, charge }) {
    if (!slot || !fits || !charge.each || slot === "rdp") return;
    const { noise_multiplier: noise, scale_multiplier: scale, rate } = this.values;
    const batch = this.shape.value === "subsampled" ? ` on batches of rate ${number(rate)}` : "";
    this.options.heard?.({ slot, each: charge.each, words: `${noise === undefined ? `Laplace scale ${number(scale)}` : `noise multiplier ${number(noise)}`}${batch}` });
  }

  show(state, ...parts) {
    this.answer.dataset.state = state;
    this.answer.setAttribute("aria-busy", String(state === "asking"));
    this.answer.replaceChildren(...parts.filter(Boolean));
  }
}

const runs = (count) => `${number(count, 6)} ${count === 1 ? "run" : "runs"}`;

/** Whether it fits and what it would cost, or why it does not and what would. */
function verdict({ fits, reason, charge, nearest, runs_out_first: first, held_by_others: held }, count) {
  const others = Object.entries(held).filter(([, parts]) => Object.values(parts).some((amount) => Number(amount) !== 0));
  const around = [
    first ? el("p", { class: "small", id: "what-if-first" }, `${fits ? "After the job, the first to run out" : "First to run out"}: ${scarcest(first)}.`) : null,
    others.length ? el("p", { class: "small", id: "what-if-others" }, `Others hold ${others.map(([kind, parts]) => `${said(parts)} of the ${KINDS[kind]}`).join("; ")}.`) : null,
  ];
  if (fits) {
    const cost = Object.keys(charge.parts).length ? said(charge.parts) : `${runs(charge.count)} of the plan`;
    const how = charge.each ? `, ${said(charge.each)} for each run` : "";
    return [el("h3", {}, el("span", { "aria-hidden": "true" }, "✓ "), `It fits: ${runs(count)}`), el("p", {}, `Cost: ${cost}${how}.`), charge.theorem ? el("p", { class: "small" }, "By ", el("code", {}, charge.theorem)) : null, ...around];
  }
  const noise = nearest.smallest_noise_multiplier;
  return [el("h3", {}, el("span", { "aria-hidden": "true" }, "≠ "), `It does not fit: ${runs(count)}`), el("p", {}, `${title(reason)}.`), noise ? el("p", {}, `${runs(count)} would fit with a noise multiplier of ${number(noise, 4, "up")} or more.`) : null, ...around];
}

/** How many of the shape fit. */
function words({ count, exact, searching }) {
  if (count === Infinity) return "This shape costs nothing: any number fits.";
  if (count === 0) return "This shape: none fits.";
  return `This shape: ${exact ? "" : "at least "}${number(count, 6, "down")} more fit${count === 1 ? "s" : ""}${searching ? "; it is being seen whether more do" : ""}.`;
}
