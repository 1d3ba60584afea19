// The risk bounds of every algorithm on the numbers of the screen, a table for each algorithm.

import { calibrationPath, post, riskBoundPath, several } from "./api.js";
import { SHARED, within } from "./comparison.js";
import { el, table } from "./dom.js";
import { MEASURES, OBJECTIVES, STATUS, capital, nameOf, noBetter, number } from "./words.js";

/** The list; it is computed on request, since the least noise of some algorithms takes seconds. */
export class Bounds {
  constructor(place, contract, algorithms, titles, open) {
    Object.assign(this, { contract, titles, open });
    this.names = algorithms.map(({ name }) => name).filter((name) => contract.has(riskBoundPath(name)));
    this.found = new Map();
    this.stop = new AbortController();
    this.button = el("button", { type: "button", id: "bounds-start", onclick: () => this.start() }, "Compute them now");
    this.stopping = el("button", { type: "button", id: "bounds-stop", hidden: true, onclick: () => this.abort("Cancelled.") }, "Cancel");
    this.progress = el("span", { class: "hint", role: "status" });
    this.list = el("div", { id: "bounded" });
    place.replaceChildren(
      el("p", { class: "hint" }, "Each algorithm has the numbers on the left where it has these fields, and those of its example elsewhere. Its noise is the smallest certified one. Bounds of different measures or data are not comparable."),
      el("p", { class: "row" }, this.button, this.stopping, this.progress),
      this.list,
    );
  }

  /** The numbers on the screen have changed. */
  update(algorithm, body) {
    Object.assign(this, { algorithm, body });
    this.abort(this.found.size ? "These bounds belong to the previous numbers; compute them again." : "");
  }

  /** Stop the computation, and show why. */
  abort(text = "") {
    this.stop.abort();
    this.say(text);
    this.stopping.hidden = true;
  }

  say(text) {
    if (this.progress.textContent !== text) this.progress.textContent = text;
  }

  async start() {
    this.stop.abort();
    const { signal } = (this.stop = new AbortController());
    this.found = new Map();
    this.stopping.hidden = false;
    this.say(`Computing the bounds of ${this.names.length} algorithms.`);
    const ask = (name) => post(riskBoundPath(name), this.request(name), { signal });
    const told = (name, answer, problem) => {
      if (signal.aborted) return;
      this.found.set(name, { answer, problem });
      this.draw();
    };
    await several(this.names, ask, told, { signal });
    if (signal.aborted) return;
    this.stopping.hidden = true;
    const refused = this.names.filter((name) => this.found.get(name)?.problem).length;
    this.say(refused ? `${this.names.length - refused} of ${this.names.length} have bounds; the others have the reason.` : "All have bounds.");
  }

  /** The request for an algorithm: its fields on the screen and what only its bounds ask, or its example with the shared numbers. */
  request(name) {
    const { noise_std: given, ...example } = this.contract.example(riskBoundPath(name));
    const asked = this.contract.body(calibrationPath(name)).properties;
    if (name === this.algorithm) return { ...without(example, asked), ...this.body };
    const shared = within(this.body, Object.fromEntries(SHARED.map((field) => [field, true])));
    const filled = { ...example, ...within(shared, example) };
    if ("log10_delta" in shared) {
      delete filled.delta;
      filled.log10_delta = shared.log10_delta;
    }
    if (filled.participants > filled.clients) filled.participants = filled.clients;
    return filled;
  }

  draw() {
    const answered = this.names.filter((name) => this.found.get(name)?.answer);
    const refused = this.names.filter((name) => this.found.get(name)?.problem);
    const groups = answered.map((name) => this.group(name, this.found.get(name).answer));
    const rows = refused.map((name) => [this.link(name), el("span", { class: "small" }, reason(this.found.get(name).problem))]);
    this.list.replaceChildren(...groups, rows.length ? el("section", { class: "kind" }, el("h3", {}, "Without bounds here"), table("Algorithms without risk bounds here", ["Algorithm", "Why"], rows)) : "");
  }

  /** The bounds of an algorithm, with its noise and its risk before training. */
  group(name, { measure, objective, baseline, run, upper, lower, no_upper_bound: open }) {
    const rows = [
      ...upper.map((bound) => [this.theorem(bound), failure(bound) ?? worth(bound, baseline), `${STATUS[bound.status] ?? bound.status}, ${bound.reading}${premises(bound)}`]),
      ...lower.map((bound) => [this.theorem(bound), failure(bound) ?? `No method is below the order of ${number(bound.scale ?? bound.value, 3, "down")}`, `Lower bound, ${bound.trust} trust${premises(bound)}`]),
    ];
    const heading = `${MEASURES[measure] ?? capital(measure)} on ${OBJECTIVES[objective] ?? objective}`;
    return el(
      "section",
      { class: "kind", "data-algorithm": name },
      el("h3", {}, this.link(name), ` · ${heading}`),
      table(`Risk bounds: ${nameOf(name)}`, ["Theorem", "Bound", "Kind"], rows),
      el("p", { class: "small" }, typeof run.noise_std === "number" ? `At the noise σ = ${number(run.noise_std, 4)}. ` : "", baseline ? `Without training it is at most ${number(baseline.value, 3, "up")} (${baseline.formula}).` : ""),
      open ? el("p", { class: "small" }, capital(open)) : null,
    );
  }

  /** A theorem by its title. */
  theorem({ theorem }) {
    return el("span", { title: theorem }, this.titles.get(theorem) ?? theorem);
  }

  /** The name of an algorithm, which shows it on the page. */
  link(name) {
    return el("button", { type: "button", class: "link", onclick: () => this.open(name) }, nameOf(name));
  }
}

/** The fields of a body that are not among the properties. */
const without = (body, properties) => Object.fromEntries(Object.entries(body).filter(([field]) => !(field in properties)));

/** Why a bound does not hold for this run: its first condition that fails; null if none does. */
function failure({ conditions }) {
  const failed = conditions?.find(({ holds }) => holds === "no");
  return failed ? el("span", { class: "small" }, `Does not apply here. It needs: ${failed.statement}`) : null;
}

/** How many conditions of a bound are for the reader to decide. */
function premises({ conditions }) {
  const open = conditions?.filter(({ holds }) => holds === "undecidable").length ?? 0;
  return open ? `; ${open === 1 ? "a condition is" : `${open} conditions are`} yours to decide` : "";
}

/** An upper bound in words. An order of growth is not a bound, and neither is a formula without a proof. */
function worth({ constant, status, value, scale, vacuous }, baseline) {
  if (constant !== "explicit") return `Of the order of ${number(scale, 3)}, with a constant that is not known`;
  const figure = status === "proved" ? `At most ${number(value, 3, "up")}` : `The printed formula is ${number(value, 3, "up")}`;
  return [figure, vacuous ? el("span", { class: "small silent" }, `, ${noBetter(baseline)}`) : null];
}

/** Why an algorithm has no bounds: the first fault of its fields, or the problem itself. */
function reason({ title, detail, errors }) {
  const first = errors?.[0];
  return capital(first ? `${first.pointer.slice(1)} ${first.message}` : `${title}. ${detail ?? ""}`);
}
