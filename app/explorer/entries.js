// The entries of a ledger, newest first. The service gives them oldest first by their numbers in the log of all ledgers.

import { Problem, get } from "./api.js";
import { said } from "./amounts.js";
import { el, table } from "./dom.js";

const PAGE = 20;
const NARROW = 64;
/** How many numbers of the log are looked through at first; twice as many each time that too few are this ledger's. */

const WORDS = {
  opened: "opened",
  reserved: "reserved",
  committed: "committed",
  cancelled: "returned",
  expired: "expired",
  sealed: "sealed",
  closed: "closed",
  lowered: "lowered",
  voided: "voided by an operator",
};

/** Entries before a number of the log, newest first: at least PAGE, unless there are no more; and the number to go on from. */
export async function entriesBefore(id, before, options) {
  const found = [];
  let end = before;
  for (let width = NARROW; end > 0 && found.length < PAGE; width *= 2) {
    const start = Math.max(0, end - width);
    const part = [];
    for (let from = start; from < end; ) {
      const page = await get(`v1/ledgers/${id}/entries?from=${from}&limit=1000`, options);
      part.push(...page.entries.filter(({ seq }) => seq < end));
      const next = page.next ? Number(new URL(page.next, document.baseURI).searchParams.get("from")) : end;
      from = next > from ? next : end;
    }
    found.push(...part.reverse());
    end = found.at(-1)?.kind === "opened" ? 0 : start;
  }
  return { entries: found, before: end };
}

const spec = (text) => el("details", {}, el("summary", {}, "mechanism"), el("code", { class: "wrap" }, text));

/** What an entry did, in one cell. */
function what({ kind, count, item, slot, charge, reservation, declared, spec: mechanism }) {
  const runs = count === undefined ? "" : `${count.toLocaleString("en-US")} ${count === 1 ? "run" : "runs"}`;
  const from = item ? ` of ${item}` : slot ? ` of slot ${slot}` : "";
  const parts = charge?.parts && Object.keys(charge.parts).length ? `; ${said(charge.parts)}` : "";
  return [
    kind === "opened" ? "the target, the plan and the slots were certified" : `${runs}${from}${parts}`,
    typeof declared === "string" ? `; declared: ${declared}` : "",
    reservation ? el("span", { class: "id block" }, reservation) : null,
    typeof mechanism === "string" ? spec(mechanism) : null,
  ];
}

const row = (entry) => [String(entry.seq), entry.at.replace("T", " ").replace("Z", " UTC"), WORDS[entry.kind] ?? entry.kind, el("div", {}, what(entry))];

export class Entries {
  constructor(id, options) {
    this.id = id;
    this.options = options;
    this.shown = [];
    this.rows = el("div");
    this.told = el("p", { class: "hint", role: "status" }, "Being read.");
    this.more = el("button", { type: "button", id: "more-entries", hidden: true, onclick: () => this.page() }, "Older entries");
    this.place = el("div", {}, this.rows, el("p", { class: "row" }, this.more), this.told);
  }

  async start() {
    await this.safely(async () => {
      const { size } = await get("v1/log/checkpoint", this.options);
      this.before = size;
      await this.page();
    });
  }

  async page() {
    this.more.disabled = true;
    await this.safely(async () => {
      const { entries, before } = await entriesBefore(this.id, this.before, this.options);
      this.before = before;
      this.shown.push(...entries);
      this.rows.replaceChildren(table("Entries, newest first", ["Number", "When", "What", "Of it"], this.shown.map(row), { class: "entries" }));
      this.more.hidden = before === 0;
      this.told.textContent = before === 0 ? `All ${this.shown.length} are shown.` : `The newest ${this.shown.length} are shown.`;
    });
    this.more.disabled = false;
  }

  async safely(work) {
    try {
      await work();
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!(error instanceof Problem)) throw error;
      this.told.textContent = `The entries cannot be shown. ${error.message}`;
    }
  }
}
