// The page: an algorithm and its numbers on one side, the service's answer on the other.

import { Problem, accessKey, calibrationPath, get, post, useKey } from "./api.js";
import { brief, showAnswer, spoken } from "./answer.js";
import { Compare } from "./compare.js";
import { Copies } from "./copies.js";
import { byId, el } from "./dom.js";
import { Form } from "./form.js";
import { Plots } from "./plots.js";
import { showPrinted } from "./printed.js";
import { showProblem, showWarnings, showWhy } from "./remarks.js";
import { Contract } from "./schema.js";
import { addressOf, read } from "./state.js";
import { nameOf } from "./words.js";

const PAUSE = 180;
/** Milliseconds a hand may rest before the service is asked. */

class Explorer {
  constructor(contract, algorithms, titles) {
    this.contract = contract;
    this.algorithms = new Map(algorithms.map((each) => [each.name, each]));
    this.titles = titles;
    this.bodies = new Map();
    this.costs = new Map();
    this.stop = new AbortController();
    this.form = new Form(byId("fields"), contract, (body) => this.changed(body));
    this.plots = new Plots(byId("plots"), contract);
    this.copies = new Copies(byId("copies"));
    this.compare = new Compare(byId("compare"), contract, algorithms, (name, body) => this.open(name, body, true));
    this.select = byId("algorithm");
    this.select.replaceChildren(...algorithms.map(({ name }) => el("option", { value: name }, `${nameOf(name)} (${name})`)));
    this.select.addEventListener("change", () => this.open(this.select.value));
    byId("reset").addEventListener("click", () => this.open(this.algorithm, this.algorithms.get(this.algorithm).example));
    byId("controls").addEventListener("submit", (event) => event.preventDefault());
    addEventListener("hashchange", () => this.fromAddress());
    byId("version").textContent = contract.version;
  }

  /** What the address says; without one, the first algorithm's example. */
  fromAddress() {
    const found = read(location.hash);
    const known = found && this.algorithms.has(found.algorithm);
    if (!known && this.algorithm) return;
    if (known && found.algorithm === this.algorithm && addressOf(this.algorithm, this.form.body) === location.hash) return;
    this.open(known ? found.algorithm : this.algorithms.keys().next().value, known ? found.body : null);
  }

  /** Show an algorithm with a body: the one given, else the one it had, else its example. */
  open(algorithm, given = null, scroll = false) {
    const { example, title, summary } = this.algorithms.get(algorithm);
    const body = given ?? this.bodies.get(algorithm) ?? example;
    this.algorithm = this.select.value = algorithm;
    byId("summary").textContent = `${title}. ${summary}`;
    this.schema = this.contract.body(calibrationPath(algorithm));
    this.described = this.contract.parameters(calibrationPath(algorithm));
    this.form.answer = null;
    this.form.draw(this.schema, example, body);
    if (scroll) scrollTo({ top: 0, behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
    this.changed(body, 0);
  }

  /** The numbers have moved: tell the address at once and the service after a pause. */
  changed(body, pause = PAUSE) {
    this.bodies.set(this.algorithm, body);
    history.replaceState(null, "", addressOf(this.algorithm, body));
    this.copies.show(this.algorithm, body);
    this.compare.update(this.algorithm, body);
    this.plots.abort();
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.ask(body), pause);
  }

  async ask(body) {
    this.stop.abort(); // until here the answer before was worth having: it shows which way the numbers go
    const stop = (this.stop = new AbortController());
    const { algorithm } = this;
    this.waiting = null;
    const began = performance.now();
    const slow = setTimeout(() => byId("answer").classList.add("waiting"), 250);
    byId("answer").setAttribute("aria-busy", "true");
    try {
      const answer = await post(calibrationPath(algorithm), body, stop.signal);
      if (algorithm !== this.algorithm) return;
      this.show(algorithm, body, answer, performance.now() - began);
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!(error instanceof Problem)) throw error;
      this.refuse(error.body);
    } finally {
      clearTimeout(slow);
      if (stop === this.stop) {
        byId("answer").classList.remove("waiting");
        byId("answer").setAttribute("aria-busy", "false");
      }
    }
  }

  show(algorithm, body, answer, milliseconds) {
    this.form.answer = answer;
    this.form.complain([]);
    showProblem(byId("problem"), null);
    document.body.classList.remove("refused");
    showAnswer(byId("figures"), answer, body, this.described);
    showWarnings(byId("warnings"), answer.warnings);
    showPrinted(byId("printed"), answer, this.titles);
    showWhy(byId("why"), answer, this.titles);
    byId("spoken").textContent = spoken(answer, body);
    byId("brief").textContent = brief(answer, body);
    byId("answer").dataset.answered = algorithm;
    if (!this.waiting) this.plots.update(algorithm, body, answer, this.cost(algorithm, milliseconds));
  }

  /** The least that an answer of this algorithm has taken: the rest was waiting for others. */
  cost(algorithm, milliseconds) {
    const least = Math.min(milliseconds, this.costs.get(algorithm) ?? Infinity);
    this.costs.set(algorithm, least);
    return least;
  }

  /** A problem stands beside its fields and on top; the last answer fades, for it answers something else. */
  refuse(problem) {
    const left = this.form.complain(problem.errors ?? []);
    showProblem(byId("problem"), problem, left, (field, value) => this.form.choose(field, value));
    document.body.classList.add("refused");
    byId("spoken").textContent = `No answer. ${problem.title}. ${problem.detail ?? ""}`;
    byId("brief").textContent = "No answer: see why";
    byId("answer").dataset.answered = "";
  }
}

/** What theorems say, by their ids. */
async function theoremTitles() {
  const { theorems } = await get("v1/theorems");
  return new Map(theorems.map(({ id, title }) => [id, title]));
}

async function start() {
  byId("key").value = accessKey();
  byId("key-form").addEventListener("submit", (event) => {
    event.preventDefault();
    byId("access").open = false;
    useKey(byId("key").value);
    begin();
  });
  for (const link of document.querySelectorAll("a[href='#answer']")) {
    link.addEventListener("click", (event) => {
      event.preventDefault(); // the address holds the state, not a place on the page
      byId("answer").focus();
      byId("answer").scrollIntoView();
    });
  }
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") byId("access").open = false;
  });
  await begin();
}

let explorer = null;

/** Read the service's documents and show the page; with another key, ask again. */
async function begin() {
  try {
    if (explorer) {
      explorer.changed(explorer.form.body, 0);
      return;
    }
    const [contract, { algorithms }, titles] = await Promise.all([get("openapi.json"), get("v1/algorithms"), theoremTitles()]);
    showProblem(byId("problem"), null);
    explorer = new Explorer(new Contract(contract), algorithms, titles);
    explorer.fromAddress();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    showProblem(byId("problem"), error.body, []);
    if (error.status === 401) byId("access").open = true;
  }
}

start();
