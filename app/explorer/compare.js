// Every algorithm on the problem of the screen, as dots on one scale in a table.

import { Problem } from "./api.js";
import { compareAll } from "./comparison.js";
import { el, table } from "./dom.js";
import { news } from "./progress.js";
import { DEFINITIONS, OBJECTIVES, bits, capital, inWords, nameOf, noBetter, number, unitWord } from "./words.js";

const MEASURES = {
  risk: ["Excess risk, at most", (value) => number(value, 3, "up")],
  noise: ["Noise σ", (value) => number(value, 4)],
  signal: ["Noise of a round's mean over its largest norm", (value) => number(value, 3, "up")],
  bits: ["Bits in all", bits],
};

/** Rows of one kind promise the same thing to the same people, so that their figures can be compared. */
const kindOf = ({ guarantee, objective }) => [guarantee?.definition, guarantee && unitWord(guarantee.unit), guarantee?.observer, objective].join();

/** The list; it is computed when it is asked for, since some algorithms take seconds. */
export class Compare {
  constructor(place, contract, algorithms, open) {
    this.contract = contract;
    this.examples = new Map(algorithms.map(({ name, example }) => [name, example]));
    this.open = open;
    this.measure = "risk";
    this.rows = [];
    this.stop = new AbortController();
    const choices = Object.entries(MEASURES).map(([id, [name]]) =>
      el("label", { class: "radio" }, el("input", { type: "radio", name: "measure", value: id, checked: id === this.measure, onchange: () => this.by(id) }), name),
    );
    this.button = el("button", { type: "button", id: "compare-start", onclick: () => this.start() }, "Compare them now");
    this.stopping = el("button", { type: "button", id: "compare-stop", hidden: true, onclick: () => this.abort("Cancelled.") }, "Cancel");
    this.progress = el("span", { class: "hint", role: "status" });
    this.far = el("span", { class: "hint" });
    this.list = el("div", { id: "compared" });
    this.advice = el("div", { id: "recommended" });
    place.replaceChildren(
      el("p", { class: "hint" }, "The comparison uses the numbers on the left. Algorithms differ in whom they trust, whose data they protect and on which data their risk is measured. Only algorithms that agree in all three can be compared; they share one heading and one scale."),
      el("p", { class: "row" }, this.button, this.stopping, this.progress, this.far),
      el("fieldset", { class: "measures" }, el("legend", {}, "Compare by"), choices),
      this.advice,
      this.list,
    );
  }

  /** The problem on the screen has changed. */
  update(algorithm, body) {
    Object.assign(this, { algorithm, body });
    this.abort(this.rows.length ? "This comparison belongs to the previous numbers; compare again." : "");
  }

  /** Stop what is being computed, and say so. */
  abort(text = "") {
    this.stop.abort();
    this.say(text, "");
    this.stopping.hidden = true;
  }

  /** How it stands, which is read aloud when it changes; and how far it is, which is not. */
  say(text, far) {
    if (this.progress.textContent !== text) this.progress.textContent = text;
    this.far.textContent = far;
  }

  by(measure) {
    this.measure = measure;
    this.draw();
  }

  async start() {
    this.stop.abort();
    const { signal } = (this.stop = new AbortController());
    this.say("Computing; some algorithms take a while.", "");
    this.stopping.hidden = false;
    const told = (each) => signal.aborted || this.say(each.state === "busy" ? "The service is busy." : "Computing; some algorithms take a while.", news(each));
    try {
      const found = await compareAll({ ...this, asking: { signal, told } });
      this.rows = found.rows;
      this.advice.replaceChildren(...advice(found));
      const open = this.rows.filter((row) => row.open).length;
      this.list.dataset.state = open ? "partial" : "complete";
      this.say(open ? `${this.rows.length - open} of ${this.rows.length} have answered; the others say why not.` : "All have answered.", "");
      this.draw();
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!(error instanceof Problem)) throw error;
      const first = error.body.errors?.[0];
      this.say(`No comparison. ${error.body.title}. ${first ? `${first.pointer.slice(1)} ${first.message}` : (error.body.detail ?? "")}`, "");
    }
    if (!signal.aborted) this.stopping.hidden = true;
  }

  draw() {
    if (!this.rows.length) return;
    const [name, say] = MEASURES[this.measure];
    const valueOf = ({ values }) => (typeof values[this.measure] === "number" && values[this.measure] > 0 ? values[this.measure] : undefined);
    const kinds = [...new Set(this.rows.filter((row) => row.why === undefined).map(kindOf))];
    const groups = kinds.map((kind) => this.rows.filter((row) => row.why === undefined && kindOf(row) === kind));
    this.list.replaceChildren(...groups.map((rows) => this.group(rows, name, say, valueOf)), this.without(this.rows.filter((row) => row.why !== undefined)) ?? "");
  }

  /** Rows that promise the same thing, on a scale of their own, the least first. */
  group(rows, name, say, valueOf) {
    const known = rows.map(valueOf).filter((value) => value !== undefined);
    const [low, high] = [Math.min(...known) / 1.3, Math.max(...known) * 1.3];
    const rank = (row) => [valueOf(row) === undefined, this.measure === "risk" && row.vacuous, valueOf(row) ?? 0].map(Number);
    const sorted = [...rows].sort((one, other) => rank(one).map((each, index) => each - rank(other)[index]).find((each) => each) ?? 0);
    const figure = (row) => {
      const value = valueOf(row);
      if (value === undefined) return el("span", { class: "small" }, this.measure === "risk" ? "No risk bound" : "This algorithm has no such figure");
      const silent = row.vacuous && this.measure === "risk" ? el("span", { class: "small silent" }, ` ${noBetter(row.baseline)}`) : null;
      return [known.length > 1 ? dot(value, low, high, row.algorithm === this.algorithm) : null, say(value), silent];
    };
    const heading = promise(rows[0]);
    return el(
      "section",
      { class: "kind" },
      el("h3", {}, heading),
      table(`${heading}, by ${name.toLowerCase()}`, ["Algorithm", name], sorted.map((row) => [this.link(row), figure(row)]), { class: "compared" }),
      known.length > 1 ? el("p", { class: "small" }, `The dots are on a logarithmic scale from ${say(low)} (left) to ${say(high)} (right).`) : null,
    );
  }

  /** Those that have no figures, and why. */
  without(rows) {
    if (!rows.length) return null;
    const why = (row) => el("span", { class: "small" }, capital(`${row.open ? "not known" : "does not apply"}: ${row.why}`));
    return el("section", { class: "kind" }, el("h3", {}, "Without figures here"), table("Algorithms without figures here", ["Algorithm", "Why"], rows.map((row) => [this.link(row), why(row)]), { class: "compared" }));
  }

  /** The name of a row, which opens it where it can be opened. */
  link(row) {
    const text = named(row.algorithm, row.name.slice(row.algorithm.length));
    return row.body ? el("button", { type: "button", class: "link", onclick: () => this.open(row.algorithm, row.body) }, text) : text;
  }
}

/** What the rows of a kind promise, and what their risk is measured on. */
function promise({ guarantee, objective }) {
  const parts = [DEFINITIONS[guarantee.definition] ?? capital(guarantee.definition), `protects one ${unitWord(guarantee.unit)}`];
  if (guarantee.observer === "final-model") parts.push("only the last model is seen");
  if (objective) parts.push(`risk on ${OBJECTIVES[objective] ?? objective}`);
  return parts.join(" · ");
}

/** An algorithm as people call it, with its variant. */
const named = (algorithm, variant = "") => nameOf(algorithm) + variant;

/** The name of an entry of a plan, "mu2-sgd (trusted server)", as people call it. */
const entryName = (entry) => {
  const [algorithm, ...variant] = entry.split(" ");
  return named(algorithm, variant.length ? ` ${variant.join(" ")}` : "");
};

/** What to run and why, and what is left of the start's risk under each kind of trust. */
function advice({ recommended, trusts }) {
  const rows = trusts.map(({ definition, best, guarantee, remaining_share, price }) => [
    DEFINITIONS[definition] ?? capital(definition),
    best ? entryName(best) : "none says anything here",
    guarantee ? `one ${unitWord(guarantee.unit)}` : "",
    remaining_share === undefined ? "" : number(remaining_share, 3, "up"),
    price === undefined ? "" : `× ${number(price, 3, "up")}`,
  ]);
  return [
    el("h3", {}, recommended.entry ? `Recommended: ${entryName(recommended.entry)}` : "Nothing to recommend"),
    el("p", {}, inWords(recommended.why)),
    table("Upper bound on the risk, as a share of the risk without training, for each kind of trust", ["Who is trusted", "Best", "Protects", "Share of risk", "Times the least"], rows),
  ];
}

function dot(value, low, high, current) {
  const line = el("span", { class: `dotline${current ? " current" : ""}`, "aria-hidden": "true" });
  const mark = el("span", { class: "dot" });
  mark.style.left = `${(100 * Math.log(value / low)) / Math.log(high / low)}%`;
  line.append(mark);
  return line;
}
