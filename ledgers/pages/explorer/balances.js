// What is used, held and free of each compartment: a bar, and the same in numbers.

import { KINDS, fullest, partName, roomWords, share } from "./amounts.js";
import { el, table } from "./dom.js";

const percent = (part) => `${Math.round(100 * part)} %`;

/** A bar whose pieces are [name, class, share]; the rest of it is called `rest`. It is told in words to those who do not see it. */
export function bar(label, pieces, rest = "free") {
  const taken = pieces.reduce((sum, [, , part]) => sum + part, 0);
  const words = [...pieces.map(([name, , part]) => `${name} ${percent(part)}`), `${rest} ${percent(Math.max(0, 1 - taken))}`];
  return el(
    "div",
    { class: `balance ${rest}`, role: "img", "aria-label": `${label}: ${words.join(", ")}` },
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

/** One bar of an item of the plan: what is not committed or reserved is planned, credit included. */
function itemBar({ name, planned, reserved, committed }) {
  const of = (count) => (planned ? count / planned : 0);
  return bar(`Plan, ${name}`, [["committed", "used", of(committed)], ["reserved", "held", of(reserved)]], "planned");
}

const key = (style, text) => el("li", {}, el("span", { class: `key ${style}`, "aria-hidden": "true" }), text);
export const legend = () =>
  el("ul", { class: "legend" }, key("used", "used: may have been released"), key("held", "reserved: somebody holds it"), key("planned", "planned: set aside for the plan"), key("free", "free"));

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

/** One bar for each compartment, with its shares in words: for a list of ledgers. */
export function brief(ledger) {
  const line = (name, drawn, words) => el("li", {}, el("span", {}, name), drawn, el("span", { class: "small" }, words));
  return el("ul", { class: "compartments" }, [
    ...ledger.plan.filter(({ job }) => !job).map((item) => line(item.name, itemBar(item), itemWords(item))),
    ...ledger.slots.map((slot) => {
      const part = fullest(slot);
      const words = [["used", slot.used], ["reserved", slot.reserved], ["free", slot.remaining]].map(([name, amounts]) => `${percent(share(amounts[part] ?? "0", slot.capacity[part]))} ${name}`);
      const room = roomWords(slot, ledger.relation);
      return line(`${KINDS[slot.kind]}, ${partName(part)}`, partBar(slot, part), `${words.join(", ")}${room ? `. ${room}` : ""}`);
    }),
  ]);
}

const itemWords = ({ planned, reserved, committed }) =>
  `${runs(committed)} of ${runs(planned)} runs committed, ${runs(reserved)} reserved, ${runs(planned - reserved - committed)} planned`;
