// What goes on while there is no answer yet: it is computed, the service is busy, or the question was given up.

import { el } from "./dom.js";
import { capital, fromLog10, number } from "./words.js";

/** What a body asks, in few words: at ε = 1, δ = 10⁻⁶. */
export function target({ epsilon, delta, log10_delta, solve_for: solved }) {
  const parts = [];
  if (typeof epsilon === "number" && solved !== "epsilon") parts.push(`ε = ${number(epsilon)}`);
  if (typeof delta === "number" && solved !== "delta") parts.push(`δ = ${number(delta)}`);
  else if (typeof log10_delta === "number") parts.push(`δ = ${fromLog10(log10_delta)}`);
  return parts.length ? ` at ${parts.join(", ")}` : "";
}

/** Whole seconds, or minutes and seconds. */
export function duration(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** How far a job is, in words; `since` are seconds since it was told. */
export function far({ state, progress = {} }, since = 0) {
  const { done, of, seconds_spent: spent, seconds_left: left } = progress;
  if (state === "queued") return "The job waits in the queue.";
  const parts = [];
  if (of > 1) parts.push(`${number(done)} of ${number(of)} done`);
  if (typeof spent === "number") parts.push(`${duration(spent + since)} so far`);
  if (typeof left === "number") parts.push(`about ${duration(left - since)} left`);
  return parts.length ? capital(`${parts.join(", ")}.`) : "It is being computed.";
}

/** News of a question in one line, for a picture or a list. */
export function news({ state, until, job }) {
  if (state === "busy") return `The service is busy; the question is sent again in ${duration((until - performance.now()) / 1000)}.`;
  return state === "computing" ? far(job) : "";
}

export class Progress {
  /** `spoken` is read aloud when it changes; `cancel` and `again` are called by the buttons. */
  constructor(place, spoken, { cancel, again }) {
    this.place = place;
    this.spoken = spoken;
    this.head = el("h3");
    this.words = el("p");
    this.bar = el("progress", { max: "1", "aria-label": "Done so far" });
    this.cancel = el("button", { type: "button", id: "cancel", onclick: cancel }, "Cancel");
    this.now = el("button", { type: "button", id: "ask-now", onclick: () => this.go?.() }, "Ask now");
    this.again = el("button", { type: "button", id: "ask-again", onclick: again }, "Ask again");
    this.card = el("div", { class: "progress card" }, this.head, this.words, this.bar, el("p", { class: "row" }, this.cancel, this.now, this.again));
  }

  /** Nothing goes on any more. */
  hide() {
    clearInterval(this.timer);
    this.state = null;
    const held = this.card.contains(document.activeElement);
    this.card.remove();
    if (held) this.place.closest("[tabindex]").focus(); // a hand on a button that is gone is at the answer now
  }

  /** Show news of a question: a job, or a service that is busy. `what` is computed. */
  show(told, what) {
    const { job, until, problem } = told;
    if (told.state === "asking") {
      this.hide();
      return;
    }
    if (told.state === "busy") {
      this.go = told.now;
      this.as("busy", problem.title ?? "The service is busy", () => `The question is sent again in ${duration((until - performance.now()) / 1000)}.`);
      return;
    }
    const seen = performance.now();
    const { done, of } = job.progress ?? {};
    this.as("computing", `Computing ${what}`, () => far(job, job.state === "running" ? (performance.now() - seen) / 1000 : 0));
    this.bar.hidden = !(of > 1);
    if (of > 1) Object.assign(this.bar, { max: of, value: done });
  }

  /** The question was given up. */
  cancelled(what) {
    this.as("cancelled", "Cancelled", () => `${capital(what)} was not computed. Change a number, or ask again.`);
  }

  /** Stand in a state; what changes within it is shown every second, and said aloud once. */
  as(state, head, words) {
    clearInterval(this.timer);
    const tell = () => (this.words.textContent = words());
    tell();
    this.head.textContent = head;
    if (state !== this.state) this.spoken.textContent = `${head}. ${this.words.textContent}`;
    this.state = this.card.dataset.state = state;
    this.bar.hidden = true;
    this.cancel.hidden = state === "cancelled";
    this.now.hidden = state !== "busy";
    this.again.hidden = state !== "cancelled";
    if (!this.card.isConnected) this.place.replaceChildren(this.card);
    if (state !== "cancelled") this.timer = setInterval(tell, 1000);
  }
}
