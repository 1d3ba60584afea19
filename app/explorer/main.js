// The page: an algorithm and its numbers on one side, the service's answer on the other.

import { keyForm, skipLinks } from "./access.js";
import { Again } from "./again.js";
import { Problem, calibrationPath, get, post } from "./api.js";
import { brief, showAnswer, spoken } from "./answer.js";
import { below } from "./below.js";
import { Bounds } from "./bounds.js";
import { Compare } from "./compare.js";
import { Copies } from "./copies.js";
import { byId, el } from "./dom.js";
import { Downloads } from "./downloads.js";
import { Form } from "./form.js";
import { Limit } from "./limit.js";
import { Plots } from "./plots.js";
import { showPrinted } from "./printed.js";
import { Progress, target } from "./progress.js";
import { kindOf, showProblem, showWarnings, showWhy } from "./remarks.js";
import { Contract } from "./schema.js";
import { addressOf, read } from "./state.js";
import { nameOf } from "./words.js";

const PAUSE = 180;
/** Milliseconds a hand may rest before the service is asked. */
const PLACES = ["answer", "printed-section", "plots-section", "compare-section", "bounds-section", "why-section", "copy-section", "words-section"];
/** What the list of contents leads to. */

class Explorer {
  constructor(contract, algorithms, titles) {
    this.contract = contract;
    this.algorithms = new Map(algorithms.map((each) => [each.name, each]));
    this.titles = titles;
    this.bodies = new Map();
    this.costs = new Map();
    this.stop = new AbortController();
    this.form = new Form(byId("fields"), contract, (body) => this.changed(body));
    this.limit = new Limit(byId("policy"), () => this.plots.limited());
    this.plots = new Plots(byId("plots"), contract, this.limit);
    this.releases = new Again(byId("several"));
    this.copies = new Copies(byId("copies"));
    this.downloads = new Downloads(byId("downloads"));
    this.progress = new Progress(byId("progress"), byId("spoken"), { cancel: () => this.cancel(), again: () => this.again() });
    this.compare = new Compare(byId("compare"), contract, algorithms, (name, body) => this.open(name, body, true));
    this.bounds = new Bounds(byId("bounds"), contract, algorithms, titles, (name) => this.open(name, null, true));
    this.select = byId("algorithm");
    this.select.replaceChildren(...algorithms.map(({ name }) => el("option", { value: name }, `${nameOf(name)} (${name})`)));
    this.select.addEventListener("change", () => this.open(this.select.value));
    byId("reset").addEventListener("click", () => this.open(this.algorithm, this.algorithms.get(this.algorithm).example));
    byId("controls").addEventListener("submit", (event) => event.preventDefault());
    addEventListener("hashchange", () => this.fromAddress());
    byId("version").textContent = contract.version;
    below(byId("controls"), byId("below"), ".field");
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
    this.described = this.contract.parameters();
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
    this.downloads.show(null); // what was answered is not what is asked now
    this.compare.update(this.algorithm, body);
    this.bounds.update(this.algorithm, body);
    this.plots.abort();
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.ask(body), pause);
  }

  async ask(body) {
    this.stop.abort(); // until here the answer before was worth having: it shows which way the numbers go
    const stop = (this.stop = new AbortController());
    const { algorithm } = this;
    this.waiting = null;
    this.asked = `${nameOf(algorithm)}${target(body)}`;
    let began = performance.now();
    const slow = setTimeout(() => byId("answer").classList.add("waiting"), 250);
    this.stand("asking");
    const told = (news) => {
      if (stop !== this.stop) return;
      if (news.state === "asking") began = performance.now(); // what a busy service makes one wait is not a cost of the answer
      showProblem(byId("problem"), null);
      this.progress.show(news, this.asked);
      this.stand(news.state);
    };
    try {
      const answer = await post(calibrationPath(algorithm), body, { signal: stop.signal, told });
      if (algorithm !== this.algorithm) return;
      this.show(algorithm, body, answer, performance.now() - began);
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!(error instanceof Problem)) throw error;
      this.refuse(error.body);
    } finally {
      clearTimeout(slow);
      if (stop === this.stop) byId("answer").classList.remove("waiting");
    }
  }

  /** Say in the page what state the answer is in: asking, computing, busy, answered, invalid, infeasible, failed, cancelled. */
  stand(state) {
    byId("answer").dataset.state = state;
    byId("answer").setAttribute("aria-busy", String(["asking", "computing", "busy"].includes(state)));
    if (!["computing", "busy", "cancelled"].includes(state)) this.progress.hide();
  }

  /** Give the question up; its job is cancelled. */
  cancel() {
    this.stop.abort();
    document.body.classList.add("refused");
    this.progress.cancelled(this.asked);
    this.stand("cancelled");
    byId("brief").textContent = "Cancelled";
    byId("ask-again").focus();
  }

  /** Ask the question that is on the screen once more. */
  again() {
    this.changed(this.form.body, 0);
    byId("answer").focus();
  }

  /** The page is left: nobody will see what is being computed. */
  leave() {
    this.stop.abort();
    this.plots.abort();
    this.compare.abort();
    this.bounds.abort();
  }

  show(algorithm, body, answer, milliseconds) {
    this.form.answer = answer;
    this.form.complain([]);
    showProblem(byId("problem"), null);
    document.body.classList.remove("refused");
    showAnswer(byId("figures"), answer, body, this.described);
    showWarnings(byId("warnings"), answer.warnings);
    showPrinted(byId("printed"), answer, this.titles);
    byId("printed-section").hidden = byId("to-printed").hidden = !answer.as_printed?.length;
    this.limit.show(answer.guarantee.epsilon);
    this.releases.show(answer, body);
    this.downloads.show(algorithm, body, answer);
    showWhy(byId("why"), answer, this.titles);
    byId("spoken").textContent = spoken(answer, body);
    byId("brief").textContent = brief(answer, body);
    byId("answer").dataset.answered = algorithm;
    this.stand("answered");
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
    showProblem(byId("problem"), problem, left, { choose: (field, value) => this.form.choose(field, value), fields: this.form.wrong, go: (id) => this.form.go(id), again: () => this.again() });
    this.stand(kindOf(problem));
    document.body.classList.add("refused");
    byId("spoken").textContent = `No answer. ${problem.title}. ${problem.detail ?? ""}`;
    byId("brief").textContent = "No answer: see why";
    byId("answer").dataset.answered = "";
  }
}

/** What theorems say, by their ids. */
async function theoremTitles(options) {
  const { theorems } = await get("v1/theorems", options);
  return new Map(theorems.map(({ id, title }) => [id, title]));
}

async function start() {
  keyForm(() => begin());
  for (const id of PLACES) skipLinks(id);
  addEventListener("pagehide", () => explorer?.leave());
  addEventListener("pageshow", (event) => event.persisted && explorer?.again());
  await begin();
}

let explorer = null;

/** Read the service's documents and show the page; with another key, ask again. */
async function begin() {
  const stop = new AbortController();
  const waiting = new Progress(byId("progress"), byId("spoken"), { cancel: () => stop.abort(), again: begin });
  const options = { signal: stop.signal, told: (news) => waiting.show(news, "the page") };
  try {
    if (explorer) {
      explorer.changed(explorer.form.body, 0);
      return;
    }
    const [contract, { algorithms }, titles] = await Promise.all([get("openapi.json", options), get("v1/algorithms", options), theoremTitles(options)]);
    waiting.hide();
    showProblem(byId("problem"), null);
    explorer = new Explorer(new Contract(contract), algorithms, titles);
    explorer.fromAddress();
  } catch (error) {
    if (error.name === "AbortError") {
      waiting.cancelled("the page");
      return;
    }
    if (!(error instanceof Problem)) throw error;
    waiting.hide();
    showProblem(byId("problem"), error.body, [], { again: begin });
    if (error.status === 401) byId("access").open = true;
  }
}

start();
