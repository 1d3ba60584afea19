// The moves of a ledger that wait for a second person, each with buttons that approve and reject it.

import { Problem, get, post } from "./api.js";
import { el, table } from "./dom.js";

const KINDS = { amend: "amendment", void: "void", reconcile: "reconciliation" };
const HEAD = ["Move", "Requested", "Expires", "What is requested", "Decision"];
const date = (text) => text.replace("T", " ").replace(/(\.\d+)?Z$/, " UTC");

export class Pending {
  constructor(ledger, options) {
    this.path = `v1/ledgers/${ledger.id}/pending`;
    this.options = options;
    this.rows = el("div");
    this.told = el("p", { class: "hint", role: "status" }, "Being read.");
    this.place = el("div", {}, this.rows, this.told);
  }

  async start() {
    await this.safely("The pending moves cannot be shown.", async () => {
      const moves = await get(this.path, this.options);
      this.rows.replaceChildren(moves.length ? table("Pending moves", HEAD, moves.map((move) => this.row(move)), { class: "pending" }) : "");
      this.told.textContent = moves.length ? "A move is made once an approver who did not request it approves it." : "Nothing waits for a second person.";
    });
  }

  row(move) {
    const kind = KINDS[move.kind] ?? move.kind;
    const button = (decision, text) => el("button", { type: "button", "data-decision": decision, "aria-label": `${text} the ${kind} of ${move.requested_by}`, onclick: () => this.decide(move, decision) }, text);
    return [
      el("div", {}, kind, el("span", { class: "id block" }, move.id)),
      `${date(move.requested_at)}, by ${move.requested_by}`,
      move.expires_at ? date(move.expires_at) : "never",
      el("code", { class: "wrap" }, JSON.stringify(move.body)),
      el("p", { class: "row" }, button("approve", "Approve"), move.kind === "reconcile" ? null : button("reject", "Reject")),
    ];
  }

  /** Approve or reject a move; the page is then shown anew, with what the ledger has become. */
  async decide(move, decision) {
    const buttons = this.rows.querySelectorAll("button");
    for (const each of buttons) each.disabled = true;
    const done = await this.safely(`The move was not ${decision === "approve" ? "approved" : "rejected"}.`, () => post(`${this.path}/${move.id}/${decision}`, {}, this.options));
    for (const each of buttons) each.disabled = false;
    if (done) this.options.again();
  }

  /** True if the work was done. */
  async safely(failure, work) {
    try {
      await work();
      return true;
    } catch (error) {
      if (error.name === "AbortError") return false;
      if (!(error instanceof Problem)) throw error;
      this.told.textContent = `${failure} ${error.message}`;
      return false;
    }
  }
}
