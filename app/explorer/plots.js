// The pictures: the frontier where there is one, noise against privacy and rounds, the privacy profile, risk against privacy.

import { Problem, post, several } from "./api.js";
import { primary } from "./answer.js";
import { Chart, limitOf } from "./chart.js";
import { courseOf, drawCourse } from "./course.js";
import { el } from "./dom.js";
import { frontierOf } from "./frontier.js";
import { accountOf, agrees } from "./profile.js";
import { news } from "./progress.js";
import { coarseFirst, spread, sweep } from "./sweep.js";
import { fromLog10, number, title } from "./words.js";

const PATIENCE = 4000;
/** Milliseconds of one answer beyond which pictures wait to be asked for. */
const HELD = 10;
/** Seconds after which a part of a picture is a job; until then it costs the service nothing to keep. */
const SYMBOLS = { noise_std: "noise σ", noise_multiplier: "noise multiplier z", epsilon: "privacy loss ε", delta: "failure probability δ", rounds: "rounds R", participants: "participants M", rate: "sampling rate q", step_size: "step size η" };
const label = (name) => SYMBOLS[name] ?? title(name).toLowerCase();

export class Plots {
  /** `limit` has the value of the policy's limit on ε. */
  constructor(place, contract, limit) {
    this.contract = contract;
    this.policy = limit;
    this.noise = new Chart({ id: "plot-noise", title: "Noise against privacy", about: "The noise that each ε requires: certified, and by the formulas as printed." });
    this.rounds = new Chart({ id: "plot-rounds", title: "Noise against rounds", about: "The noise that each number of rounds requires." });
    this.profile = new Chart({ id: "plot-profile", title: "The privacy profile", about: "Lower and upper bounds on δ for every ε." });
    this.course = new Chart({ id: "plot-course", title: "Privacy as the run goes on", about: "The ε after each epoch at this noise, up to twice the length of the run." });
    this.risk = new Chart({ id: "plot-risk", title: "Risk against privacy", about: "The excess risk at each ε: the proved upper bound of this run, and the lower bound for every method." });
    this.frontier = new Chart({ id: "plot-frontier", title: "Risk against rounds and traffic", about: "The excess risk at each number of rounds and amount of communication. The answer is the smallest run that meets the target." });
    place.replaceChildren(...[this.frontier, this.noise, this.rounds, this.course, this.profile, this.risk].map((chart) => chart.place));
    this.stop = new AbortController();
  }

  /** The policy's limit has changed. */
  limited() {
    for (const chart of [this.noise, this.rounds, this.course, this.profile, this.risk]) chart.limit(this.policy.value);
  }

  /** A picture with the line of the limit on the axis that shows ε. */
  held(axis, picture) {
    return { ...picture, limited: axis, limit: axis && limitOf(axis, this.policy.value) };
  }

  /** Ask for no more, and cancel what is being computed. */
  abort() {
    this.stop.abort();
    this.stop = new AbortController();
  }

  /** Draw for an answer that took so many milliseconds; a slow algorithm waits for a button. */
  update(algorithm, body, answer, milliseconds) {
    this.abort();
    const run = { algorithm, body, answer, signal: this.stop.signal, milliseconds, name: primary(answer, body) };
    run.sweeps = this.contract.sweeps();
    run.perCall = Math.floor(3000 / Math.max(1, milliseconds));
    run.count = Math.max(7, Math.min(25, Math.round(10000 / Math.max(1, milliseconds))));
    this.drawFrontier(answer);
    this.risk.place.hidden = !answer.risk?.upper; // no bound is known for this run, or a field that it needs is missing
    run.course = run.name ? courseOf(answer, body) : null;
    this.course.place.hidden = run.course === null; // the run is not a single mechanism over rounds
    if (!run.name) {
      for (const chart of [this.noise, this.rounds, this.profile, this.risk]) chart.tell("Groups of clients differ here: no single line applies to all of them.");
      return;
    }
    this.follow(run, [this.profile], (asking) => this.drawProfile({ ...run, asking }));
    this.follow(run, [this.noise, this.risk], (asking) => this.drawPrivacy({ ...run, asking }));
    this.follow(run, [this.rounds], (asking) => this.drawRounds({ ...run, asking }));
    if (run.course) this.follow(run, [this.course], (asking) => this.drawCourse({ ...run, asking }));
  }

  /** Drawn from the answer itself; hidden where nothing was left open. */
  drawFrontier(answer) {
    const picture = frontierOf(answer);
    this.frontier.place.hidden = picture === null;
    if (picture) this.frontier.draw(picture);
    else this.frontier.clear();
  }

  /** Draw charts, now or when a button is pressed; each says whether it is "partial" or "complete". */
  follow({ signal, milliseconds }, charts, draw) {
    const stand = (state) => charts.forEach(({ place }) => (place.dataset.state = state));
    const begin = () => {
      for (const chart of charts) if (!chart.drawn) chart.tell("Drawing…");
      stand("partial");
      const told = (each) => signal.aborted || charts.forEach((chart) => chart.wait(news(each)));
      draw({ signal, told, wait: HELD }).then(() => signal.aborted || stand("complete"), (error) => {
        if (error.name === "AbortError" || signal.aborted) return;
        if (!(error instanceof Problem)) throw error;
        stand("failed");
        for (const chart of charts) chart.tell(`No picture. ${error.body.title}. ${error.body.detail ?? ""} `, el("button", { type: "button", onclick: begin }, "Draw it again"));
      });
    };
    if (milliseconds <= PATIENCE) {
      begin();
      return;
    }
    for (const chart of charts) {
      const button = el("button", { type: "button", onclick: begin }, "Draw it");
      chart.tell(`One answer of this algorithm took ${number(milliseconds / 1000, 2)} seconds, a picture takes several. `, button);
    }
  }

  async drawPrivacy(run) {
    const { algorithm, body, answer, name, signal } = run;
    const field = name === "epsilon" ? "noise_multiplier" : "epsilon";
    const here = body[field] ?? answer.guarantee.target.epsilon;
    if (typeof here !== "number" || (field === "epsilon" && !this.takes(algorithm, field))) {
      this.noise.tell("The target of this request is not an ε.");
      this.risk.tell("The target of this request is not an ε.");
      return;
    }
    const values = [...new Set([...spread(here / 10, here * 10, run.count), here])].sort((one, other) => one - other);
    const lines = new Lines(name, label(name));
    const [upper, lower, start] = [new Map(), new Map(), new Map()];
    const x = { label: label(field), log: true, ends: [here / 10, here * 10] };
    const axis = field === "epsilon" ? "x" : name === "epsilon" ? "y" : null;
    let failed = "";
    const lowest = this.lowerBounds(run, field, values, lower);
    const draw = () => {
      this.noise.draw(this.held(axis, { x, y: { label: label(name), log: true }, now: here, series: lines.series(), note: failed }));
      this.risk.place.hidden = !upper.size;
      if (!upper.size) return;
      const series = [{ label: "proved to be reached", kind: "certified", points: upper }, { label: "the start, without training", kind: "printed", points: start }, { label: "no method beats this order (constant unknown)", kind: "lower", points: lower }];
      this.risk.draw(this.held(field === "epsilon" ? "x" : null, { x, y: { label: "excess risk", log: true }, now: here, series, note: lower.size ? failed : `${failed} No lower bound is known for this run.` }));
    };
    await sweep(algorithm, body, field, values, (value, each, problem) => {
      if (signal.aborted) return;
      if (problem) failed ||= `No answer at ${number(value)}: ${problem.detail ?? problem.title}`;
      else {
        lines.add(value, each);
        if (each.risk?.upper) upper.set(value, each.risk.upper.value);
        if (typeof each.risk?.baseline?.value === "number") start.set(value, each.risk.baseline.value);
        if (each.risk?.lower) lower.set(value, each.risk.lower.value);
      }
      draw();
    }, run);
    await lowest;
    if (signal.aborted) return;
    draw();
    if (!lines.series()[0].points.size) this.noise.tell(failed || "Nothing to draw.");
  }

  /** Lower bounds, where the service has them for this algorithm. */
  async lowerBounds({ algorithm, body, signal, count, asking }, field, values, lower) {
    const path = `v1/risk-bounds/${algorithm}`;
    if (!this.contract.has(path) || field !== "epsilon") return;
    const known = this.contract.resolve(this.contract.body(path)).properties;
    const problem = Object.fromEntries(Object.entries(body).filter(([name]) => name in known));
    // One request shows whether the service has a lower bound for this run: some algorithms have none, some need more fields.
    const first = await post(path, { ...problem, epsilon: values[0] }, asking).catch((error) => {
      if (error instanceof Problem || error.name === "AbortError") return null;
      throw error;
    });
    if (!first?.lower?.length) return;
    const some = coarseFirst(values.filter((_, index) => index % (count > 12 ? 2 : 1) === 0 || index === values.length - 1));
    await several(some, (value) => post(path, { ...problem, epsilon: value }, asking), (value, answer) => {
      const bound = answer?.lower?.[0];
      const height = bound?.value ?? bound?.scale;
      if (typeof height === "number") lower.set(value, height);
    }, { signal });
  }

  async drawRounds(run) {
    const { algorithm, body, answer, name, signal } = run;
    const field = this.takes(algorithm, "rounds") ? "rounds" : "participants";
    const here = body[field] ?? answer.parameters[field];
    this.rounds.place.hidden = name === field || typeof here !== "number" || !this.takes(algorithm, field); // they are solved for, or there are none
    if (this.rounds.place.hidden) return;
    this.rounds.head.textContent = field === "rounds" ? "Noise against rounds" : "Noise against participants";
    const most = field === "participants" ? Math.min(here * 30, body.clients ?? Infinity) : Math.min(here * 30, 1e15);
    const values = [...new Set([...spread(Math.max(1, here / 30), Math.max(most, 2), run.count, true), here])].sort((a, b) => a - b);
    const lines = new Lines(name, label(name));
    let failed = "";
    await sweep(algorithm, body, field, values, (value, each, problem) => {
      if (signal.aborted) return;
      if (problem) failed ||= `No answer at ${number(value)}: ${problem.detail ?? problem.title}`;
      else lines.add(value, each);
      this.rounds.draw(this.held(name === "epsilon" ? "y" : null, { x: { label: label(field), log: true, ends: [values[0], values.at(-1)] }, y: { label: label(name), log: true }, now: here, series: lines.series(), note: failed }));
    }, run);
    if (!signal.aborted && !lines.series()[0].points.size) this.rounds.tell(failed || "Nothing to draw.");
  }

  async drawCourse(run) {
    const drawn = await drawCourse(run, run.course, (picture) => run.signal.aborted || this.course.draw(this.held("y", picture)));
    if (!drawn && !run.signal.aborted) this.course.place.hidden = true; // its own theorem proves another figure
  }

  async drawProfile({ body, answer, signal, asking }) {
    const target = answer.guarantee.target.epsilon;
    const here = typeof target === "number" ? target : answer.guarantee.epsilon.upper;
    const epsilons = Array.from({ length: 61 }, (_, index) => Number((here * (0.1 + index * 0.03)).toPrecision(6)));
    const request = accountOf(answer, body, epsilons.concat(here));
    if (!request) {
      this.profile.tell("The proof of this run combines several theorems, and /v1/accounts cannot compute its privacy profile. The certificate above holds at its ε and δ.");
      return;
    }
    const { points } = await post("v1/accounts", request, asking);
    if (signal.aborted) return;
    if (!agrees(points.at(-1), answer)) {
      this.profile.tell("The general accountant proves a different ε for this run than its own theorem, so that its profile is not shown. The certificate above holds.");
      return;
    }
    const side = (end) => new Map(points.map((point) => [point.epsilon.upper, point.log10_delta[end]]).filter(([, value]) => typeof value === "number"));
    const series = [{ label: "δ at most", kind: "certified", points: side("upper") }];
    const open = answer.guarantee.tight === "unknown";
    if (!open) series.push({ label: "δ at least", kind: "lower", points: side("lower") });
    const y = { label: "failure probability δ", log: false, incrs: [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10000, 100000, 1e6, 1e7, 1e8], show: (value, digits) => fromLog10(value, Math.min(3, digits)) };
    this.profile.draw(this.held("x", { x: { label: "privacy loss ε" }, y, now: here, series, band: !open, note: open ? "Only the upper bound is proved for this run." : "" }));
  }

  takes(algorithm, field) {
    return field in this.contract.body(`v1/calibrations/${algorithm}`).properties;
  }
}

/** The certified line of a quantity, and those that are printed. */
class Lines {
  constructor(name) {
    this.name = name;
    this.certified = new Map();
    this.printed = new Map();
  }

  add(value, answer) {
    this.certified.set(value, answer.parameters[this.name]);
    for (const { theorem, readings, status, parameters } of answer.as_printed ?? []) {
      const height = parameters[this.name];
      if (typeof height !== "number" || !(height > 0)) continue;
      for (const reading of readings) {
        const key = `${theorem}, ${reading}: ${status}`;
        if (!this.printed.has(key)) this.printed.set(key, new Map());
        this.printed.get(key).set(value, height);
      }
    }
  }

  /** Printed lines that lie on one another are one. */
  series() {
    const distinct = new Map();
    for (const [text, points] of this.printed) {
      const key = JSON.stringify([...points]);
      if (!distinct.has(key)) distinct.set(key, { label: `printed (${text})`, kind: "printed", points });
    }
    return [{ label: "certified", kind: "certified", points: this.certified }, ...[...distinct.values()].slice(0, 3)];
  }
}
