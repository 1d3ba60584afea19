// One picture: a line plot, its legend, and the same numbers as a table.

import { el, table } from "./dom.js";
import { number } from "./words.js";

const { uPlot } = globalThis; // the page loads it before its modules

const HEIGHT = 260;
/** Devices without a pointer that can rest on a picture. */
const TOUCH = matchMedia("(hover: none)");
const DASHES = { certified: [], lower: [2, 4], printed: [9, 5], now: [] };

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const strokeOf = (kind, index) => colour(kind === "printed" ? `--printed-${index % 3}` : "--accent");

/**
 * A figure that is drawn anew as points come.
 * `x` and `y` are {label, log, show?}; a series is {label, kind, points: Map of x to y}; kinds: certified, lower, printed.
 */
export class Chart {
  constructor({ id, title, about }) {
    this.title = title;
    this.head = el("h3", { id: `${id}-title` }, title);
    this.about = el("p", { class: "small" }, about);
    this.legend = el("ul", { class: "legend", "aria-hidden": "true" });
    this.canvas = el("div", { class: "plot", onkeydown: (event) => this.move(event), onfocus: () => this.speak("polite"), onblur: () => this.speak(null) });
    this.readout = el("p", { class: "readout", "aria-hidden": "true" });
    this.note = el("p", { class: "hint note" });
    this.numbers = el("details", { class: "numbers" }, el("summary", {}, "The numbers as a table"), el("div"));
    this.place = el("figure", { id, class: "card chart", "aria-labelledby": `${id}-title` }, this.head, this.about, this.legend, this.canvas, this.readout, this.note, this.numbers);
    this.drawn = null;
    this.plot = null;
    addEventListener("theme", () => this.drawn && this.draw(this.drawn));
    new ResizeObserver(() => {
      const width = this.canvas.clientWidth;
      if (this.plot && width && width !== this.plot.width) this.plot.setSize({ width, height: HEIGHT });
    }).observe(this.canvas);
  }

  /** Draw again what is drawn, with another limit of the policy. */
  limit(value) {
    if (this.drawn?.limited) this.draw({ ...this.drawn, limit: limitOf(this.drawn.limited, value) });
  }

  /** Words in place of a picture. */
  tell(text, ...more) {
    this.clear();
    this.note.replaceChildren(text, ...more);
  }

  /** Say below what is drawn so far, if anything, that more is to come. */
  wait(text) {
    this.note.textContent = `${this.drawn ? "More points are being computed" : "Drawing"}. ${text}`;
  }

  clear() {
    this.plot?.destroy();
    this.plot = this.drawn = null;
    this.canvas.replaceChildren();
    this.canvas.removeAttribute("role");
    this.canvas.removeAttribute("aria-label");
    this.canvas.removeAttribute("tabindex");
    this.legend.replaceChildren();
    this.readout.textContent = "";
    this.note.replaceChildren();
    this.numbers.hidden = true;
  }

  /**
   * Draw; `band` says that the first two series are the two sides of one thing. `now` is the x of the screen, `limit` the
   * x or y {axis, value} that a policy sets and `limited` the axis that shows ε. A `table` {head, rows} stands in for the table of the points.
   */
  draw(picture) {
    const series = picture.series.filter(({ points }) => [...points.values()].some((value) => value !== null));
    if (!series.length) return;
    this.clear();
    this.drawn = picture;
    const { x, y, now } = picture;
    const xs = [...new Set(series.flatMap(({ points }) => [...points.keys()]))].sort((one, other) => one - other);
    const data = [xs, ...series.map(({ points }) => xs.map((each) => points.get(each) ?? null))];
    const printed = series.filter(({ kind }) => kind === "printed");
    const strokes = series.map((each) => strokeOf(each.kind, printed.indexOf(each)));
    this.legend.replaceChildren(...series.map(({ label, kind }, index) => el("li", {}, swatch(kind, strokes[index]), label)));
    if (picture.limit) this.legend.append(el("li", { class: "limited" }, swatch("limit", colour("--bad")), picture.limit.label ?? `your limit, ε = ${number(picture.limit.value)}`));
    this.plot = new uPlot(this.options(picture, series, strokes, xs.length), data, this.canvas);
    this.readout.textContent = TOUCH.matches ? "Touch the picture to read it." : "Point at the picture to read it, or choose it and use the arrow keys.";
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("tabindex", "0");
    this.canvas.setAttribute("aria-label", `${summary(this.title, x, y, xs, series)}${picture.limit ? ` A line marks ${picture.limit.label ?? `your limit, ε = ${number(picture.limit.value)}`}.` : ""} The arrow keys read it point by point.`);
    this.note.textContent = picture.note ?? "";
    const points = xs.map((each) => [say(x, each), ...series.map(({ points }) => (points.get(each) === undefined || points.get(each) === null ? "none" : say(y, points.get(each))))]);
    const { head, rows } = picture.table ?? { head: [x.label, ...series.map(({ label }) => label)], rows: points };
    this.numbers.lastElementChild.replaceChildren(table(`${this.title}: the numbers`, head, rows));
    this.numbers.hidden = false;
    this.now = now;
  }

  options(picture, series, strokes, count) {
    const { x, y, now, band, limit } = picture;
    const [ink, line] = [colour("--muted"), colour("--line")];
    const axis = (each, size) => ({
      stroke: ink,
      label: each.label,
      labelSize: 22,
      labelFont: "13px system-ui, sans-serif",
      font: "12px system-ui, sans-serif",
      size,
      splits: each.log ? (_, __, low, high) => ticks(low, high) : undefined,
      filter: each.log ? (_, splits) => splits : undefined,
      incrs: each.incrs,
      grid: { stroke: line, width: 1 },
      ticks: { stroke: line, width: 1 },
      values: (_, splits) => splits.map((value) => (value === null ? "" : say(each, value, 2))),
    });
    const scale = (each) => (each.log ? { distr: 3, range: (_, low, high) => widen(...(each.ends ?? [low, high])) } : {});
    return {
      width: this.canvas.clientWidth || 320,
      height: HEIGHT,
      legend: { show: false },
      scales: { x: { time: false, ...scale(x) }, y: scale(y) },
      axes: [axis(x, 34), axis(y, 64)],
      series: [{}, ...series.map(({ label, kind }, index) => ({ label, stroke: strokes[index], width: kind === "certified" ? 2.5 : 2, dash: DASHES[kind], spanGaps: true, pxAlign: 0, paths: picture.stepped ? uPlot.paths.stepped({ align: 1 }) : undefined, points: { show: count < 6, size: 6, fill: strokes[index] } }))],
      bands: band && series.length > 1 ? [{ series: [1, 2], fill: colour("--band") }] : [],
      cursor: { drag: { x: false, y: false }, y: false },
      hooks: {
        draw: [(plot) => now !== undefined && mark(plot, { axis: "x", value: now }, ink, [2, 3]), (plot) => limit && mark(plot, limit, colour("--bad"), [])],
        setCursor: [(plot) => this.read(plot, x, y, series)],
      },
    };
  }

  /** Let the readout be spoken while the picture has the keyboard's focus; a pointer would make it speak without end. */
  speak(manner) {
    if (manner) this.readout.removeAttribute("aria-hidden");
    else this.readout.setAttribute("aria-hidden", "true");
    this.readout.setAttribute("aria-live", manner ?? "off");
  }

  /** Move the cursor by the arrow keys, Home and End. */
  move(event) {
    if (!this.plot) return;
    const last = this.plot.data[0].length - 1;
    const at = this.plot.cursor.idx ?? -1;
    const target = { ArrowRight: at + 1, ArrowLeft: at < 0 ? last : at - 1, Home: 0, End: last }[event.key];
    if (target === undefined) return;
    event.preventDefault();
    const index = Math.min(last, Math.max(0, target));
    this.plot.setCursor({ left: this.plot.valToPos(this.plot.data[0][index], "x"), top: 1 });
  }

  read(plot, x, y, series) {
    const { idx } = plot.cursor;
    if (idx === null || idx === undefined) return;
    const parts = series.map(({ label }, index) => [label, plot.data[index + 1][idx]]).filter(([, value]) => value !== null);
    this.readout.textContent = `${x.label} ${say(x, plot.data[0][idx])}: ${parts.map(([label, value]) => `${label} ${say(y, value)}`).join("; ")}`;
  }
}

/** The line of a limit on the axis that shows ε, if there is one. */
export const limitOf = (axis, value) => (value === undefined ? undefined : { axis, value });

const say = (axis, value, digits = 4) => (axis.show ? axis.show(value, digits) : number(value, digits));

/** Decades where there are many; 1, 2, 5 in between, or finer, where there are few. */
function ticks(low, high) {
  const decades = Math.log10(high / low);
  const steps = decades > 3 ? [1] : decades > 1.2 ? [1, 2, 5] : decades > 0.5 ? [1, 1.5, 2, 3, 4, 5, 7] : [1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9];
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += Math.max(1, Math.floor(decades / 8))) {
    for (const step of steps) found.push(Number(`${step}e${power}`));
  }
  return found.filter((each) => each >= low && each <= high);
}

/** Both ends of a logarithmic scale, a little apart from the points. */
function widen(low, high) {
  if (!(low > 0)) return [0.1, 10];
  const room = low === high ? 1.5 : (high / low) ** 0.06;
  return [low / room, high * room];
}

/** A line across the picture at a value of the x or the y axis. */
function mark(plot, { axis, value }, ink, dash) {
  const { left, top, width, height } = plot.bbox;
  const at = plot.valToPos(value, axis, true);
  const [start, end] = axis === "x" ? [left, left + width] : [top, top + height];
  if (!(at >= start && at <= end)) return;
  plot.ctx.save();
  plot.ctx.strokeStyle = ink;
  plot.ctx.lineWidth = (dash.length ? 1 : 2) * devicePixelRatio;
  plot.ctx.setLineDash(dash.map((each) => each * devicePixelRatio));
  plot.ctx.beginPath();
  plot.ctx.moveTo(axis === "x" ? at : left, axis === "x" ? top : at);
  plot.ctx.lineTo(axis === "x" ? at : left + width, axis === "x" ? top + height : at);
  plot.ctx.stroke();
  plot.ctx.restore();
}

function swatch(kind, stroke) {
  const made = el("span", { class: `swatch ${kind}` });
  made.style.borderTopColor = stroke;
  return made;
}

/** What the picture shows, for those who do not see it. */
function summary(title, x, y, xs, series) {
  const lines = series.map(({ label, points }) => {
    const known = [...points.entries()].filter(([, value]) => value !== null).sort((one, other) => one[0] - other[0]);
    return `${label} goes from ${say(y, known[0][1])} to ${say(y, known.at(-1)[1])}`;
  });
  return `${title}. ${x.label} from ${say(x, xs[0])} to ${say(x, xs.at(-1))}: ${lines.join("; ")}. The table below has every number.`;
}
