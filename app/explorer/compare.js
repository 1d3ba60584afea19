// Every algorithm on the problem of the screen: what they share is taken over, the rest is that of their examples.

import { calibrationPath, get, post, several } from "./api.js";
import { el, table } from "./dom.js";
import { DEFINITIONS, bits, nameOf, number } from "./words.js";

const SHARED = ["epsilon", "delta", "log10_delta", "samples_per_client", "clients", "participants", "rounds", "dimension", "lipschitz", "diameter", "smoothness"];
const MEASURES = {
  risk: ["Excess risk, at most", (answer) => answer.risk?.upper?.value, (value) => number(value, 3, "up")],
  noise: ["Noise σ", (answer) => answer.parameters.noise_std, (value) => number(value, 4)],
  bits: ["Bits in all", (answer) => answer.communication?.total_bits, bits],
};

/** The body of an algorithm for a problem that was posed to another. */
export function translate(algorithm, example, body, properties) {
  if (algorithm === "gaussian") return null;
  const taken = Object.fromEntries(SHARED.filter((name) => name in properties && name in body).map((name) => [name, body[name]]));
  const made = { ...example, ...taken };
  if ("log10_delta" in taken) delete made.delta;
  const [clients, records] = [made.clients ?? Infinity, made.samples_per_client ?? Infinity];
  if (made.participants > clients) made.participants = clients;
  if (made.batch_size > records) made.batch_size = records;
  return made;
}

/** A list of algorithms with a dot for each on a common scale; it is computed when it is asked for. */
export class Compare {
  constructor(place, contract, algorithms, open) {
    this.place = place;
    this.contract = contract;
    this.algorithms = algorithms;
    this.open = open;
    this.measure = "risk";
    this.answers = new Map();
    this.stop = new AbortController();
    const choices = Object.entries(MEASURES).map(([id, [name]]) =>
      el("label", { class: "radio" }, el("input", { type: "radio", name: "measure", value: id, checked: id === this.measure, onchange: () => this.by(id) }), name),
    );
    this.button = el("button", { type: "button", id: "compare-start", onclick: () => this.start() }, "Compare them now");
    this.progress = el("span", { class: "hint", role: "status" });
    this.list = el("div", { id: "compared" });
    place.replaceChildren(
      el("p", { class: "hint" }, "Privacy, clients, records, rounds, dimension and the loss are those on the left; what an algorithm needs besides is taken from its example. They protect different things against different observers: read the column before you choose."),
      el("p", { class: "row" }, this.button, this.progress),
      el("fieldset", { class: "measures" }, el("legend", {}, "Compare by"), choices),
      this.list,
    );
    this.draw();
  }

  /** The problem on the screen has changed. */
  update(algorithm, body) {
    this.stop.abort();
    this.stop = new AbortController();
    this.body = body;
    this.current = algorithm;
    if (this.answers.size) this.progress.textContent = "These are for the numbers before; compare again.";
  }

  by(measure) {
    this.measure = measure;
    this.draw();
  }

  async start() {
    this.stop.abort();
    this.stop = new AbortController();
    const { signal } = this.stop;
    this.answers.clear();
    const bodies = this.algorithms.map(({ name, example }) => {
      const properties = this.contract.body(calibrationPath(name)).properties;
      return [name, name === this.current ? this.body : translate(name, example, this.body, properties)];
    }).filter(([, body]) => body);
    const told = ([name, body], answer, problem) => {
      if (signal.aborted) return;
      this.answers.set(name, { body, answer, problem });
      this.progress.textContent = this.answers.size < bodies.length ? `${this.answers.size} of ${bodies.length} have answered` : "All have answered.";
      this.draw();
    };
    this.progress.textContent = `0 of ${bodies.length} have answered`;
    await several(bodies, ([name, body]) => post(calibrationPath(name), body, signal), told, { signal });
  }

  draw() {
    if (!this.answers.size) {
      this.list.replaceChildren();
      return;
    }
    const [name, value, say] = MEASURES[this.measure];
    const entries = [...this.answers].map(([algorithm, each]) => ({ algorithm, ...each, value: each.answer ? value(each.answer) : undefined }));
    const known = entries.filter((each) => typeof each.value === "number" && each.value > 0).map((each) => each.value);
    const [low, high] = [Math.min(...known) / 1.3, Math.max(...known) * 1.3];
    entries.sort((one, other) => (one.value ?? Infinity) - (other.value ?? Infinity));
    const rows = entries.map((each) => [
      el("button", { type: "button", class: "link", onclick: () => this.open(each.algorithm, each.body) }, nameOf(each.algorithm)),
      each.value === undefined ? el("span", { class: "small" }, why(each, name)) : [dot(each.value, low, high, each.algorithm === this.current), say(each.value)],
      each.answer ? DEFINITIONS[each.answer.guarantee.definition] ?? "" : "",
      each.answer ? `one ${each.answer.guarantee.unit}` : "",
    ]);
    this.list.replaceChildren(
      table(`All algorithms by ${name.toLowerCase()}`, ["Algorithm", name, "Who is trusted", "Protects"], rows, { class: "compared" }),
      el("p", { class: "small" }, known.length > 1 ? `Dots stand on a logarithmic scale from ${say(low)} to ${say(high)}; further left is less.` : ""),
    );
  }
}

const why = ({ problem }, name) => (problem ? `No answer: ${problem.errors?.[0] ? `${problem.errors[0].pointer.slice(1)} ${problem.errors[0].message}` : problem.detail}` : `No ${name.toLowerCase().split(",")[0]} is told.`);

function dot(value, low, high, current) {
  const line = el("span", { class: `dotline${current ? " current" : ""}`, "aria-hidden": "true" });
  const mark = el("span", { class: "dot" });
  mark.style.left = `${(100 * Math.log(value / low)) / Math.log(high / low)}%`;
  line.append(mark);
  return line;
}

/** The titles of theorems, by id; an empty map where the service does not tell. */
export async function theoremTitles() {
  const { theorems } = await get("v1/theorems");
  return new Map(theorems.map(({ id, title }) => [id, title]));
}
