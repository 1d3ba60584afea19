// All data sets of the caller's organisation with their ledgers and what is held, or how the first ledger is opened.

import { KINDS, fullness } from "./amounts.js";
import { accessKey, get, urlOf } from "./api.js";
import { brief, legend } from "./balances.js";
import { el } from "./dom.js";
import { Holds, returns } from "./holds.js";
import { openingForm } from "./opening.js";
import { fromLog10, number } from "./words.js";

const PATH = "v1/ledgers";

export const addressOf = (id) => `#/${encodeURIComponent(id)}`;
export const targetOf = ({ epsilon, log10_delta: log10 }) => `ε = ${number(epsilon)}, δ = ${fromLog10(log10, 4)}`;
export const whole = ({ dataset, block }) => (block ? `${dataset}, block ${block}` : `${dataset}, all of it`);

/** Whether a ledger gives anything out at present, in words. */
export const stateOf = ({ state, sealed }) => (state === "contradicted" ? "contradicted: no ε" : state === "closed" ? "closed" : sealed ? "open" : "open, not sealed yet");

const EXAMPLE = {
  name: "models of 2025",
  dataset: "visits",
  block: "2025",
  unit: "record",
  relation: "add-or-remove-one",
  observer: "released-models",
  target: { epsilon: 8, delta: 1e-6 },
  slots: [{ kind: "gdp", capacity: "largest" }],
  declared: { inputs: "functions-of-releases", sealed: true, released_before: false },
};

/** The form that opens a ledger, and the two other ways, ready to be copied. */
function howToOpen(options) {
  const key = accessKey() ? ` \\\n  -H "authorization: Bearer $EPSILOND_API_KEY"` : "";
  const post = `curl -sS '${urlOf(PATH)}' \\\n  -H 'content-type: application/json'${key} \\\n  -d '${JSON.stringify(EXAMPLE, null, 2)}'`;
  const command = `epsilond ledger open 'models of 2025' --at '${urlOf("./")}' \\\n  --dataset visits --block 2025 --unit record --relation add-or-remove-one \\\n  --observer released-models --epsilon 8 --delta 1e-6 --slot gdp --sealed`;
  const text = (label, code) => [el("h3", {}, label), el("pre", { tabindex: "0", role: "region", "aria-label": label }, el("code", {}, code))];
  return el(
    "section",
    { class: "card empty", "aria-labelledby": "empty-title" },
    el("h2", { id: "empty-title" }, "You have no ledger yet"),
    el("p", {}, "A ledger is opened once for each data set, or for each block of one, with a target that all releases together will keep. What is planned goes in with it; a slot leaves room for what is chosen later."),
    openingForm({ ...options, opened: ({ id }) => (location.hash = addressOf(id)) }),
    el("details", { class: "elsewhere" }, el("summary", {}, "Or on the command line, or over HTTP"), text("On the command line", command), text("Over HTTP", post)),
  );
}

const card = (ledger) =>
  el(
    "li",
    { class: "ledger", "data-id": ledger.id },
    el("h4", {}, el("a", { href: addressOf(ledger.id) }, ledger.name)),
    el("p", { class: "small" }, ledger.block ? `Block ${ledger.block}. ` : "All of it. ", targetOf(ledger.target), ". ", el("strong", { class: "state" }, stateOf(ledger)), ledger.conditional ? ", conditional" : ""),
    brief(ledger),
  );

/** A name as the service compares names: without regard to case and to Unicode form. */
const folded = (name) => name.normalize("NFKC").toLowerCase();

/** Cards of data sets, each with its ledgers in the order in which they were opened. */
class DataSets {
  constructor() {
    this.lists = new Map();
    this.place = el("div", { class: "datasets" });
  }

  /** Add ledgers to the cards of their data sets; return the first that was added, as an element. */
  add(ledgers) {
    const items = ledgers.map((ledger) => {
      const item = card(ledger);
      this.listOf(ledger.dataset).append(item);
      return item;
    });
    return items[0];
  }

  listOf(dataset) {
    const key = folded(dataset);
    if (!this.lists.has(key)) {
      const list = el("ul", { class: "ledgers", "aria-label": `Ledgers of ${dataset}` });
      this.lists.set(key, list);
      this.place.append(el("section", { class: "card dataset", "data-name": dataset, "aria-label": `Data set ${dataset}` }, el("h3", {}, dataset), list));
    }
    return this.lists.get(key);
  }
}

/** What an officer asks first: how many, how full, how much is held, and what returns next. */
class Summary {
  constructor() {
    this.values = new Map();
    this.place = el("dl", { class: "facts wide", id: "summary" }, ["Data sets", "Open ledgers", "Fullest slot", "Reservations that hold something", "Next to return"].map((name) => {
      this.values.set(name, el("dd", {}, "being read"));
      return el("div", {}, el("dt", {}, name), this.values.get(name));
    }));
  }

  set(name, ...value) {
    this.values.get(name).replaceChildren(...value);
  }

  /** Say of these ledgers how many there are, and which slot is fullest; `all` is false while some are not shown. */
  count(ledgers, all) {
    const open = ledgers.filter(({ state }) => state === "open");
    const of = (number) => `${number.toLocaleString("en-US")}${all ? "" : " shown, there are more"}`;
    this.set("Data sets", of(new Set(ledgers.map(({ dataset }) => folded(dataset))).size));
    this.set("Open ledgers", of(open.length));
    const slots = open.flatMap((ledger) => ledger.slots.map((slot) => ({ ledger, slot, full: fullness(slot) })));
    if (!slots.length) return this.set("Fullest slot", "there is none");
    const { ledger, slot, full } = slots.reduce((best, each) => (each.full > best.full ? each : best));
    return this.set("Fullest slot", `${Math.round(100 * full)} % taken: ${KINDS[slot.kind]} of `, el("a", { href: addressOf(ledger.id) }, ledger.name));
  }

  hold({ count, next }) {
    this.set("Reservations that hold something", count.toLocaleString("en-US"));
    const [ledger] = next?.ledgers ?? [];
    this.set("Next to return", ...(next ? [`${next.by ?? "A caller without a name"} in `, el("a", { href: addressOf(ledger.id) }, ledger.name), ` ${returns(next, Date.now())}`] : ["nothing"]));
  }
}

/** The form that opens a further ledger, closed at first. */
const another = (options) =>
  el("details", { class: "card elsewhere" }, el("summary", {}, "Open another ledger"), openingForm({ ...options, opened: ({ id }) => (location.hash = addressOf(id)) }));

/** Show the data sets and their ledgers in `place`, a page of ledgers at a time. */
export async function showList(place, options) {
  const first = await get(PATH, options);
  const warnings = first.warnings?.length ? el("div", { class: "warnings" }, el("ul", {}, first.warnings.map(({ message }) => el("li", {}, message)))) : "";
  if (!first.ledgers.length) {
    place.replaceChildren(warnings, howToOpen(options));
    return "You have no ledger yet.";
  }
  const [datasets, summary, shown] = [new DataSets(), new Summary(), []];
  const held = new Holds(options, (found) => summary.hold(found));
  const more = el("button", { type: "button", id: "more-ledgers" }, "Show more");
  let cursor = null;
  const add = (page) => {
    shown.push(...page.ledgers);
    cursor = page.next ? new URL(page.next, document.baseURI).search : null;
    more.hidden = !cursor;
    summary.count(shown, !cursor);
    held.add(page.ledgers);
    return datasets.add(page.ledgers);
  };
  more.addEventListener("click", () => options.attempt(async () => add(await get(`${PATH}${cursor}`, options))?.querySelector("a").focus()));
  add(first);
  place.replaceChildren(
    warnings,
    el("section", { "aria-labelledby": "list-title" }, el("h2", { id: "list-title" }, "Data sets of your organisation"), summary.place, legend(), datasets.place, more),
    held.place,
    another(options),
  );
  return cursor ? `The first ${first.ledgers.length} of your ledgers.` : `${first.ledgers.length} ${first.ledgers.length === 1 ? "ledger" : "ledgers"}.`;
}
