// The caller's ledgers, or how the first is opened.

import { accessKey, get, urlOf } from "./api.js";
import { brief, legend } from "./balances.js";
import { el } from "./dom.js";
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
    { class: "card ledger", "data-id": ledger.id },
    el("h3", {}, el("a", { href: addressOf(ledger.id) }, ledger.name)),
    el("p", { class: "small" }, whole(ledger), ". ", targetOf(ledger.target), ". ", el("strong", { class: "state" }, stateOf(ledger)), ledger.conditional ? ", conditional" : ""),
    brief(ledger),
  );

/** Show the ledgers in `place`, a page at a time. */
export async function showList(place, options) {
  const first = await get(PATH, options);
  const warnings = first.warnings?.length ? el("div", { class: "warnings" }, el("ul", {}, first.warnings.map(({ message }) => el("li", {}, message)))) : "";
  if (!first.ledgers.length) {
    place.replaceChildren(warnings, howToOpen(options));
    return "You have no ledger yet.";
  }
  const list = el("ul", { class: "ledgers", "aria-labelledby": "list-title" });
  const more = el("button", { type: "button", id: "more-ledgers" }, "Show more");
  let cursor = null;
  const add = (page) => {
    list.append(...page.ledgers.map(card));
    cursor = page.next ? new URL(page.next, document.baseURI).search : null;
    more.hidden = !cursor;
  };
  more.addEventListener("click", () => options.attempt(async () => {
    const at = list.children.length;
    add(await get(`${PATH}${cursor}`, options));
    list.children[at]?.querySelector("a").focus();
  }));
  add(first);
  place.replaceChildren(warnings, el("section", { "aria-labelledby": "list-title" }, el("h2", { id: "list-title" }, "Your ledgers"), legend(), list, more));
  return cursor ? `The first ${first.ledgers.length} of your ledgers.` : `${first.ledgers.length} ${first.ledgers.length === 1 ? "ledger" : "ledgers"}.`;
}
