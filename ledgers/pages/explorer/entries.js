// The entries of a ledger, newest first, by their numbers in the log of all ledgers.

import { Problem, get } from "./api.js";
import { said } from "./amounts.js";
import { el, table } from "./dom.js";

const PAGE = 20;

const WORDS = {
  opened: "opened",
  reserved: "reserved",
  committed: "committed",
  cancelled: "returned",
  expired: "expired",
  sealed: "sealed",
  closed: "closed",
  lowered: "lowered",
  amended: "amended",
  voided: "voided by an approver",
  reconciled: "log accepted",
  contradicted: "contradicted",
};

/** A page of entries, newest first, the newest of all or those after a page before; and where the page after it is, if there is one. */
export async function entriesFrom(id, next, options) {
  const { entries, next: after } = await get(next ?? `v1/ledgers/${id}/entries?order=newest&limit=${PAGE}`, options);
  return { entries, next: after ? after.replace(/^\//, "") : null };
}

const spec = (text) => el("details", {}, el("summary", {}, "mechanism"), el("code", { class: "wrap" }, text));

/** What an entry did, in one cell. */
function what({ kind, count, item, slot, charge, reservation, declared, observations, contradicted, spec: mechanism, requested_by: requester, approved_by: approver }) {
  const runs = count === undefined ? "" : `${count.toLocaleString("en-US")} ${count === 1 ? "run" : "runs"}`;
  const from = item ? ` of ${item}` : slot ? ` of slot ${slot}` : "";
  const parts = charge?.parts && Object.keys(charge.parts).length ? `; ${said(charge.parts)}` : "";
  return [
    kind === "opened" ? "the target, the plan and the slots were certified" : `${runs}${from}${parts}`,
    contradicted ? "; contradicted" : "",
    observations ? observations.map(({ premise, message }) => `${premise}: ${message}`).join("; ") : "",
    typeof declared === "string" ? `; declared: ${declared}` : "",
    typeof approver === "string" ? `; requested by ${requester}, approved by ${approver}` : "",
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
    this.next = null;
    await this.page();
  }

  async page() {
    this.more.disabled = true;
    await this.safely(async () => {
      const { entries, next } = await entriesFrom(this.id, this.next, this.options);
      this.next = next;
      this.shown.push(...entries);
      this.rows.replaceChildren(table("Entries, newest first", ["Number", "When", "What", "Of it"], this.shown.map(row), { class: "entries" }));
      this.more.hidden = next === null;
      this.told.textContent = next === null ? `All ${this.shown.length} are shown.` : `The newest ${this.shown.length} are shown.`;
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
