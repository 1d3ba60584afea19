// What is held at present: by whom, of what, and when it returns by itself.

import { Problem, get } from "./api.js";
import { bar } from "./balances.js";
import { el } from "./dom.js";

const ENTRIES = 1000;
/** Number of the newest entries of a ledger that are searched for reservations: one answer. */
const MOST_HOLDS = 60;
/** Largest number of reservations that are read and shown. */
const TOGETHER = 6;
/** Number of requests under way at one time: as many as a browser sends to one host. */
const UNITS = [["day", 86_400], ["hour", 3_600], ["minute", 60]];

/** A length of time in words, rounded down: 3 hours. */
export function span(seconds) {
  const [name, size] = UNITS.find(([, each]) => seconds >= each) ?? [];
  if (!name) return "under a minute";
  const count = Math.floor(seconds / size);
  return `${count.toLocaleString("en-US")} ${count === 1 ? name : `${name}s`}`;
}

/** Whether anything of a ledger is reserved. */
export const holds = ({ plan, slots }) =>
  plan.some(({ reserved }) => reserved > 0) || slots.some(({ reserved }) => Object.values(reserved).some((amount) => Number(amount) > 0));

/** The reservations in entries of a ledger (the newest first) that still hold runs: {id, by, what}, the oldest first. */
export function heldIn(entries) {
  const held = new Map();
  for (const entry of [...entries].reverse()) {
    const { kind, reservation: id, count } = entry;
    if (kind === "reserved") held.set(id, { id, by: entry.requested_by ?? null, what: entry.item ?? `slot ${entry.slot}`, count });
    else if (held.has(id) && ["committed", "cancelled", "expired"].includes(kind)) held.get(id).count -= count;
  }
  return [...held.values()].filter(({ count }) => count > 0).map(({ id, by, what }) => ({ id, by, what }));
}

/** Holds in the order in which they return; those that never do come last, the oldest first. */
export const inOrder = (held) =>
  [...held].sort((one, next) => (one.expires ? Date.parse(one.expires) : Infinity) - (next.expires ? Date.parse(next.expires) : Infinity) || Date.parse(one.created) - Date.parse(next.created));

/** Results of work(item), in the order of the items, a few at a time. */
async function each(items, work) {
  const results = [];
  for (let at = 0; at < items.length; at += TOGETHER) results.push(...(await Promise.all(items.slice(at, at + TOGETHER).map(work))));
  return results;
}

const date = (text) => text.replace("T", " ").replace(/(\.\d+)?Z$/, " UTC");

/** When a hold returns, in words: as seen at `now`, in milliseconds. */
export function returns({ expires }, now) {
  if (!expires) return "never expires";
  const left = (Date.parse(expires) - now) / 1000;
  return left <= 0 ? "has expired: it returns within a minute" : `returns in ${span(left)}`;
}

/** One hold: when it returns, who holds what, and how much of its time has passed. */
function line(hold, now) {
  const { id, by, what, ledgers, created, expires, count, committed } = hold;
  const left = count - committed;
  const age = Math.max(0, (now - Date.parse(created)) / 1000);
  const term = expires ? (Date.parse(expires) - Date.parse(created)) / 1000 : 0;
  const passed = term > 0 ? Math.min(1, age / term) : 1;
  return el(
    "li",
    { "data-id": id },
    el("p", { class: "when" }, el("strong", {}, returns(hold, now)), expires ? el("span", { class: "small block" }, date(expires)) : null),
    el(
      "p",
      { class: "wrap" },
      by ? el("strong", { class: "who" }, by) : el("span", { class: "who" }, "A caller without a name"),
      ` holds ${left.toLocaleString("en-US")} ${left === 1 ? "run" : "runs"} of ${what} in `,
      ledgers.flatMap(({ id: ledger, name }, index) => [index ? ", " : "", el("a", { href: `#/${encodeURIComponent(ledger)}` }, name)]),
      el("span", { class: "small block" }, `since ${date(created)}, for ${span(age)}; `, el("span", { class: "id" }, id)),
    ),
    expires ? bar("Time of this hold", [["passed", "elapsed", passed]], "left") : null,
  );
}

export class Holds {
  /** `told({count, next})` is called once the holds are known: their number, and the one that returns first. */
  constructor(options, told) {
    this.options = options;
    this.told = told;
    this.read = new Map();
    this.list = el("ol", { class: "holds" });
    this.note = el("p", { class: "hint", role: "status" }, "Being read.");
    this.place = el("section", { id: "holds", "aria-labelledby": "holds-title" }, el("h2", { id: "holds-title" }, "Held now, what returns first comes first"), this.list, this.note);
  }

  /** Read what is held in these ledgers, and show it with what was read before. */
  async add(ledgers) {
    try {
      const found = await this.find(ledgers);
      for (const hold of found) {
        const known = this.read.get(hold.id);
        if (known) known.ledgers.push(...hold.ledgers.filter(({ id }) => known.ledgers.every((ledger) => ledger.id !== id)));
        else this.read.set(hold.id, hold);
      }
      this.show();
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!(error instanceof Problem)) throw error;
      this.note.textContent = `What is held cannot be shown. ${error.message}`;
    }
  }

  async find(ledgers) {
    const candidates = new Map();
    await each(ledgers.filter(holds), async ({ id, name }) => {
      const { entries, next } = await get(`v1/ledgers/${id}/entries?order=newest&limit=${ENTRIES}`, this.options);
      if (next) this.older = true;
      for (const hold of heldIn(entries)) {
        const known = candidates.get(hold.id);
        if (known) known.ledgers.push({ id, name });
        else candidates.set(hold.id, { ...hold, ledgers: [{ id, name }] });
      }
    });
    const chosen = [...candidates.values()];
    const room = Math.max(0, MOST_HOLDS - this.read.size);
    if (chosen.length > room) this.more = true;
    const read = await each(room ? chosen.slice(-room) : [], async (hold) => {
      const { state, created, expires, count, committed } = await get(`v1/reservations/${hold.id}`, this.options);
      return { ...hold, state, created, expires, count, committed };
    });
    return read.filter(({ state, count, committed }) => ["reserved", "committed"].includes(state) && committed < count);
  }

  show() {
    const held = inOrder([...this.read.values()]);
    this.list.replaceChildren(...held.map((hold) => line(hold, Date.now())));
    const limits = [this.more ? `Only ${MOST_HOLDS} of them are shown.` : "", this.older ? `Of a ledger with more than ${ENTRIES.toLocaleString("en-US")} entries, older reservations are not.` : ""];
    this.note.textContent = [held.length ? "" : "Nothing is held.", ...limits].filter(Boolean).join(" ");
    this.told({ count: held.length, next: held.find(({ expires }) => expires) ?? null });
  }
}
