// The form that opens a ledger: its target, whom it protects, and one slot for what is chosen later.

import { ask } from "./api.js";
import { el } from "./dom.js";

const RELATIONS = [["add-or-remove-one", "one is added or left out"], ["replace-one", "one is replaced by another"]];
const OBSERVERS = [["released-models", "anyone who sees the released models"], ["server", "the server, which sees every message"], ["final-model", "anyone who sees the last model only"]];
const SLOTS = [["gdp", "Gaussian noise (gdp)"], ["zcdp", "zero-concentrated (zcdp)"], ["pure", "Laplace noise (pure)"]];

const key = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

function input(name, label, hint, props = {}) {
  const about = el("p", { class: "about", id: `o-${name}-about` }, hint);
  return el("div", { class: "field choice" }, el("label", { for: `o-${name}` }, label), el("input", { id: `o-${name}`, name, "aria-describedby": `o-${name}-about`, ...props }), about);
}

const WINDOWS = ["day", "week", "month"].map((window) => [`client-${window}`, `one client within one ${window}`]);

function choice(name, label, choices) {
  return el("div", { class: "field choice" }, el("label", { for: `o-${name}` }, label), el("select", { id: `o-${name}`, name }, choices.map(([value, text]) => el("option", { value }, text))));
}

function check(name, text) {
  return el("p", { class: "row" }, el("input", { type: "checkbox", id: `o-${name}`, name, required: true }), el("label", { for: `o-${name}` }, text));
}

/** The body of the request that the fields stand for. */
export function bodyOf(values) {
  const { name, dataset, block, unit, relation, observer, epsilon, delta, slot } = values;
  return {
    name,
    dataset,
    ...(block ? { block } : {}),
    unit: unit.includes("-") ? { of: unit.split("-")[0], window: unit.split("-")[1] } : unit,
    relation,
    observer,
    target: { epsilon: Number(epsilon), delta: Number(delta) },
    slots: [{ kind: slot, capacity: slot === "pure" ? { epsilon: String(Number(epsilon) / 2), delta: "0" } : "largest" }],
    declared: { inputs: "functions-of-releases", sealed: true, released_before: false },
  };
}

/** A form that opens a ledger, and calls opened(ledger). */
export function openingForm({ signal, attempt, opened }) {
  const submit = el("button", { type: "submit" }, "Open the ledger");
  const form = el(
    "form",
    {
      id: "open-ledger",
      autocomplete: "off",
      "aria-labelledby": "open-title",
      onsubmit: async (event) => {
        event.preventDefault();
        submit.disabled = true;
        const headers = { "content-type": "application/json", "idempotency-key": key() };
        const body = JSON.stringify(bodyOf(Object.fromEntries(new FormData(form))));
        await attempt(async () => opened((await ask("v1/ledgers", { method: "POST", headers, body, signal })).body));
        submit.disabled = false;
      },
    },
    el("h3", { id: "open-title" }, "Open one here"),
    el("div", { class: "asking" }, [
      input("name", "Name", "how people call it", { required: true }),
      input("dataset", "Data set", "the data that the budget is of", { required: true }),
      input("block", "Block", "the part of the data; empty: all of it"),
      choice("unit", "Protects", [["record", "one record"], ["client", "everything of one client"], ...WINDOWS]),
      choice("relation", "Neighbours", RELATIONS),
      choice("observer", "Against", OBSERVERS),
      input("epsilon", "ε", "of all releases together, in nats", { required: true, type: "number", min: "0", step: "any", value: "8" }),
      input("delta", "δ", "of all releases together; far below 1 over the number of records", { required: true, type: "number", min: "0", max: "1", step: "any", value: "1e-6" }),
      choice("slot", "Slot", SLOTS),
    ]),
    check("sealed", "Who is in the data is fixed from now on."),
    check("before", "Nothing that reads these data was released before."),
    el("p", { class: "row" }, submit),
  );
  return form;
}
