// What is left of a promise when the same is run again on the same people.

import { Problem, post } from "./api.js";
import { el, table } from "./dom.js";
import { accountOf } from "./profile.js";
import { fromLog10, number } from "./words.js";

const RUNS = [1, 2, 4, 8];
/** Powers of two: sums of so many equal ends are exact. */

export class Again {
  constructor(place) {
    this.list = el("div", { "aria-live": "polite" });
    this.place = el(
      "details",
      { class: "all", id: "again", ontoggle: () => this.place.open && this.ask() },
      el("summary", {}, "If the run is repeated on the same data"),
      el("p", { class: "hint" }, "Every further run on the same data increases its privacy loss. A ", el("a", { href: "ledgers" }, "ledger"), " keeps one budget over all runs, and rejects runs that exceed it."),
      this.list,
    );
    place.replaceChildren(this.place);
    this.stop = new AbortController();
  }

  /** Another answer is on the screen. */
  show(answer, body) {
    this.stop.abort();
    Object.assign(this, { answer, body });
    this.list.replaceChildren();
    if (this.place.open) this.ask();
  }

  async ask() {
    if (!this.answer || this.list.childElementCount) return;
    const { signal } = (this.stop = new AbortController());
    const { guarantee } = this.answer;
    this.list.replaceChildren(el("p", { class: "hint" }, "Computing…"));
    let found = null;
    try {
      found = await this.composed(signal);
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!(error instanceof Problem)) throw error;
    }
    if (signal.aborted) return;
    const delta = (runs) => (guarantee.target.delta ? number(runs * guarantee.target.delta, 3, "up") : fromLog10(guarantee.target.log10_delta + Math.log10(runs), 3, "up"));
    const added = (runs) => (typeof guarantee.epsilon.upper === "number" ? runs * guarantee.epsilon.upper : guarantee.epsilon.upper);
    const rows = RUNS.map((runs, index) => [runs === 1 ? "once" : `${runs} times`, number(found ? found[index].upper : added(runs), 4, "up"), found ? delta(1) : delta(runs)]);
    this.list.replaceChildren(
      table("What several runs lose", ["Run", "ε, at most", "at δ"], rows, { class: "runs" }),
      el("p", { class: "small" }, found ? "All runs are composed, and certified at the same δ." : "ε and δ are added up (basic composition), which is valid for every run; no tighter composition is available for this run."),
    );
  }

  /** The ε of so many runs at the δ of one, or null where the run is not a single spec. */
  async composed(signal) {
    const request = accountOf(this.answer, this.body, []);
    const { target } = this.answer.guarantee;
    if (!request) return null;
    const query = target.delta ? { delta: target.delta } : { log10_delta: target.log10_delta };
    const asked = RUNS.map((times) => ({ ...request, query, spec: times > 1 ? { kind: "repeated", times, mechanism: request.spec } : request.spec }));
    const answers = await Promise.all(asked.map((each) => post("v1/accounts", each, { signal })));
    const epsilons = answers.map(({ guarantee }) => guarantee.epsilon);
    const one = this.answer.guarantee.epsilon.upper;
    return typeof one === "number" && Math.abs(epsilons[0].upper - one) < 0.02 * one ? epsilons : null; // else it is not the account of this run
  }
}
