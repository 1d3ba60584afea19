// Every algorithm on the problem of the screen, as dots on one scale in a table.

import { Problem } from "./api.js";
import { compareAll } from "./comparison.js";
import { el, table } from "./dom.js";
import { news } from "./progress.js";
import { DEFINITIONS, OBJECTIVES, bits, capital, nameOf, noBetter, number } from "./words.js";

const MEASURES = {
  risk: ["Excess risk, at most", (value) => number(value, 3, "up")],
  noise: ["Noise σ", (value) => number(value, 4)],
  bits: ["Bits in all", bits],
};

/** Rows of one kind promise the same thing to the same people, so that their figures can be compared. */
const kindOf = ({ guarantee, objective }) => [guarantee?.definition, guarantee?.unit, guarantee?.observer, objective].join();

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
    place.replaceChildren(
      el("p", { class: "hint" }, "The numbers are those on the left. Algorithms differ in whom they trust, whose data they protect and what their risk is measured on: only rows that agree in all of these can be compared, and they stand together."),
      el("p", { class: "row" }, this.button, this.stopping, this.progress, this.far),
      el("fieldset", { class: "measures" }, el("legend", {}, "Compare by"), choices),
      this.list,
    );
  }

  /** The problem on the screen has changed. */
  update(algorithm, body) {
    Object.assign(this, { algorithm, body });
    this.abort(this.rows.length ? "These are for the numbers before; compare again." : "");
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
      this.rows = await compareAll({ ...this, asking: { signal, told } });
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
    const known = this.rows.map(valueOf).filter((value) => value !== undefined);
    const [low, high] = [Math.min(...known) / 1.3, Math.max(...known) * 1.3];
    const kinds = [...new Set(this.rows.map(kindOf))];
    const sorted = [...this.rows].sort((one, other) => {
      const unknown = (valueOf(one) === undefined) - (valueOf(other) === undefined);
      const kind = kinds.indexOf(kindOf(one)) - kinds.indexOf(kindOf(other));
      const silent = (one.vacuous === true) - (other.vacuous === true);
      return unknown || kind || silent || (valueOf(one) ?? 0) - (valueOf(other) ?? 0);
    });
    const rows = sorted.map((row) => {
      const value = valueOf(row);
      const text = nameOf(row.algorithm) + row.name.slice(row.algorithm.length);
      return [
        row.body ? el("button", { type: "button", class: "link", onclick: () => this.open(row.algorithm, row.body) }, text) : text,
        value === undefined ? el("span", { class: "small" }, row.why ? capital(`${row.open ? "not known" : "does not apply"}: ${row.why}`) : this.measure === "risk" ? "No risk bound" : "Not a figure of this algorithm") : [dot(value, low, high, row.algorithm === this.algorithm), say(value), row.vacuous && this.measure === "risk" ? el("span", { class: "small silent" }, ` ${noBetter(row.baseline)}`) : null],
        row.guarantee ? DEFINITIONS[row.guarantee.definition] ?? capital(row.guarantee.definition) : "",
        row.guarantee ? `one ${row.guarantee.unit}` : "",
        OBJECTIVES[row.objective] ?? "",
      ];
    });
    this.list.replaceChildren(
      table(`All algorithms by ${name.toLowerCase()}`, ["Algorithm", name, "Who is trusted", "Protects", "Risk is on"], rows, { class: "compared" }),
      el("p", { class: "small" }, known.length > 1 ? `Dots stand on a logarithmic scale from ${say(low)} to ${say(high)}; further left is less.` : ""),
    );
  }
}

function dot(value, low, high, current) {
  const line = el("span", { class: `dotline${current ? " current" : ""}`, "aria-hidden": "true" });
  const mark = el("span", { class: "dot" });
  mark.style.left = `${(100 * Math.log(value / low)) / Math.log(high / low)}%`;
  line.append(mark);
  return line;
}
