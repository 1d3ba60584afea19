// What is used, held and free of each compartment: a bar, and the same in numbers.

import { KINDS, partName, roomWords, share } from "./amounts.js";
import { el, table } from "./dom.js";

const percent = (part) => `${Math.round(100 * part)} %`;

/** A bar whose pieces are [name, class, share]; what is left of it is free. It is told in words to those who do not see it. */
export function bar(label, pieces) {
  const taken = pieces.reduce((sum, [, , part]) => sum + part, 0);
  const words = [...pieces.map(([name, , part]) => `${name} ${percent(part)}`), `free ${percent(Math.max(0, 1 - taken))}`];
  return el(
    "div",
    { class: "balance", role: "img", "aria-label": `${label}: ${words.join(", ")}` },
    pieces.map(([, style, part]) => {
      const piece = el("span", { class: `piece ${style}` });
      piece.style.width = `${100 * part}%`;
      piece.hidden = part === 0;
      return piece;
    }),
  );
}

/** One bar of a part of a slot. */
const partBar = (slot, part) =>
  bar(`${KINDS[slot.kind]}, ${partName(part)}`, [
    ["used", "used", share(slot.used[part] ?? "0", slot.capacity[part])],
    ["reserved", "held", share(slot.reserved[part] ?? "0", slot.capacity[part])],
  ]);

/** One bar of an item of the plan; runs that stand as credit are free. */
function itemBar({ name, planned, reserved, committed }) {
  const of = (count) => (planned ? count / planned : 0);
  return bar(`Plan, ${name}`, [["committed", "used", of(committed)], ["reserved", "held", of(reserved)]]);
}

const key = (style, text) => el("li", {}, el("span", { class: `key ${style}`, "aria-hidden": "true" }), text);
export const legend = () =>
  el("ul", { class: "legend" }, key("used", "used: may have been released"), key("held", "reserved: somebody holds it"), key("free", "free"));

/** A slot as a card: how much fits, and for each part its bar and its four amounts, exactly as the service gives them. */
export function slotCard(slot, relation) {
  const parts = Object.keys(slot.capacity);
  const room = roomWords(slot, relation);
  const row = (name, amount) => [el("dt", {}, name), el("dd", {}, amount ?? "0")];
  return el(
    "section",
    { class: "card slot", "data-kind": slot.kind },
    el("h3", {}, KINDS[slot.kind], " ", el("span", { class: "id" }, slot.kind)),
    room ? el("p", { class: "room" }, `${room}.`) : null,
    parts.map((part) =>
      el(
        "div",
        { class: "part" },
        el("h4", {}, partName(part)),
        partBar(slot, part),
        el(
          "details",
          {},
          el("summary", {}, "Exact amounts"),
          el("dl", { class: "amounts" }, [
            ["used", slot.used[part]],
            ["reserved", slot.reserved[part]],
            ["free", slot.remaining[part]],
            ["of", slot.capacity[part]],
          ].map(([name, amount]) => el("div", {}, row(name, amount)))),
        ),
      ),
    ),
  );
}

const runs = (count) => count.toLocaleString("en-US");

/** The plan as a table: every number of runs, and a bar. */
export function planTable(plan) {
  const rows = plan.map((item) => [
    el("span", {}, item.name, item.job ? el("span", { class: "small block" }, "of job ", el("code", {}, item.job)) : null),
    runs(item.planned),
    runs(item.reserved),
    runs(item.committed),
    runs(item.credit),
    runs(item.planned - item.reserved - item.committed),
    itemBar(item),
  ]);
  return table("The plan, in runs", ["Item", "Planned", "Reserved", "Committed", "Credit", "Free, with credit", "Balance"], rows, { class: "plan" });
}

/** One bar for each compartment, with the least that says what it is: for a list of ledgers. */
export function brief(ledger) {
  const line = (name, drawn, free) => el("li", {}, el("span", {}, name), drawn, el("span", { class: "small" }, free));
  return el("ul", { class: "compartments" }, [
    ...ledger.plan.filter(({ job }) => !job).map((item) => line(item.name, itemBar(item), `${runs(item.planned - item.reserved - item.committed)} of ${runs(item.planned)} runs free`)),
    ...ledger.slots.map((slot) => {
      const [part] = Object.keys(slot.capacity);
      const free = Math.floor(100 * share(slot.remaining[part], slot.capacity[part]));
      return line(KINDS[slot.kind], partBar(slot, part), roomWords(slot, ledger.relation) ?? `${free} % of ${partName(part)} is free`);
    }),
  ]);
}
