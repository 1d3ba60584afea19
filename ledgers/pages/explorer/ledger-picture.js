// A slot over its releases: what was committed and is reserved, and further releases stacked on it until the slot is full.

import { Problem, get } from "./api.js";
import { partName, runsFor, said, share, units } from "./amounts.js";
import { Chart } from "./chart.js";

const MOST_PAGES = 5;
/** Number of further releases up to which each is a step; more are drawn as one line. */
const MOST_STEPS = 200;
const percent = (value, digits = 4) => `${Number(value.toPrecision(digits))} %`;

/** The entries of a ledger from its opening on, or null where there are too many for a picture. */
async function history(id, options) {
  const entries = [];
  let next = `v1/ledgers/${id}/entries?order=oldest&limit=1000`;
  for (let page = 0; next && page < MOST_PAGES; page += 1) {
    const answer = await get(next, options);
    entries.push(...answer.entries);
    next = answer.next?.replace(/^\//, "") ?? null;
  }
  return next ? null : entries;
}

/** The committed releases of a slot, in their order: {count, amount} of the part after each commit. */
export function committedOf(entries, kind, part) {
  const slots = new Map();
  const steps = [];
  let [count, amount] = [0, 0n];
  for (const entry of entries) {
    if (entry.reservation && entry.slot) slots.set(entry.reservation, entry.slot);
    const ofSlot = (entry.slot ?? slots.get(entry.reservation)) === kind;
    const sign = { committed: 1, voided: -1 }[entry.kind];
    if (!ofSlot || !sign || !entry.charge?.parts?.[part]) continue;
    count += sign * entry.count;
    amount += BigInt(sign) * units(entry.charge.parts[part]);
    steps.push({ count, amount, at: entry.at });
  }
  return steps;
}

export class LedgerPicture {
  constructor(ledger, options) {
    this.ledger = ledger;
    this.options = options;
    this.chart = new Chart({ id: "ledger-picture", title: "The budget, release by release", about: "What each release has taken of a slot, and how many more fit until the slot is full. A full slot and the whole plan together are the target." });
    this.place = this.chart.place;
    this.entries = null;
    this.job = null;
  }

  async start() {
    this.chart.tell("Being drawn.");
    try {
      this.entries = await history(this.ledger.id, this.options);
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!(error instanceof Problem)) throw error;
      this.chart.tell(`No picture. ${error.message}`);
      return;
    }
    if (this.entries === null) this.chart.tell("This ledger has too many entries for a picture.");
    else this.draw();
  }

  /** Draw further releases of a job: {slot, each, words}, where `each` are the parts that one release takes. */
  stack(job) {
    this.job = job;
    if (this.entries) this.draw();
  }

  draw() {
    const slot = this.ledger.slots.find(({ kind }) => kind === (this.job?.slot ?? this.ledger.slots[0].kind));
    const [part] = Object.keys(slot.capacity);
    const whole = slot.capacity[part];
    const of = (amount) => 100 * share(text(amount), whole);
    const steps = committedOf(this.entries, slot.kind, part);
    const committed = new Map([[0, 0], ...steps.map(({ count, amount }) => [count, of(amount)])]);
    const past = steps.at(-1)?.count ?? 0;
    const held = units(slot.used[part]) + units(slot.reserved[part]);
    const series = [{ label: "committed", kind: "certified", points: committed }];
    if (units(slot.reserved[part]) > 0n) series.push({ label: "with what is reserved", kind: "lower", points: new Map([[past, of(held)]]) });
    const fits = this.job ? runsFor(this.job.each, slot.remaining) : 0;
    let note = `So far ${past.toLocaleString("en-US")} releases took ${percent(of(units(slot.used[part])))} of this slot.`;
    if (this.job && Number.isFinite(fits)) {
      const cost = units(this.job.each[part] ?? "0");
      const last = past + fits;
      const drawn = fits <= MOST_STEPS ? Array.from({ length: fits + 1 }, (_, index) => index) : [0, fits];
      series.push({ label: `further releases with ${this.job.words}`, kind: "printed", points: new Map(drawn.map((index) => [past + index, of(held + BigInt(index) * cost)])) });
      note += fits
        ? ` ${fits.toLocaleString("en-US")} more with ${this.job.words} fit, each at ${said(this.job.each)}. The last that fits is release ${last.toLocaleString("en-US")}, at ${percent(of(held + BigInt(fits) * cost))}.`
        : ` No further release with ${this.job.words} fits.`;
    }
    this.chart.draw({
      x: { label: "releases of this slot", show: (value) => value.toLocaleString("en-US") },
      y: { label: `share of ${partName(part)} taken`, show: (value, digits) => percent(value, digits) },
      series,
      now: past,
      limit: { axis: "y", value: 100, label: "the full slot" },
      stepped: fits <= MOST_STEPS,
      note: `${note} The dotted line is today.`,
    });
  }
}

/** An amount in units of its last place, as a decimal string. */
function text(amount) {
  const digits = amount.toString().padStart(19, "0");
  return `${digits.slice(0, -18)}.${digits.slice(-18)}`;
}
