// The controls of one algorithm, made from the fields of its request.

import { el } from "./dom.js";
import { slider } from "./slider.js";
import { at, put } from "./state.js";
import { solvedBy, swap } from "./solve.js";
import { capital, number, unitWord } from "./words.js";

const WHO = ["unit", "observer"];
/** In front where there is a choice. */
const GOAL = ["solve_for", "epsilon", "delta", "log10_delta", "gaussian_dp_mu", "noise_multiplier"];
const RUN = [
  "samples_per_client",
  "clients",
  "participants",
  "rounds",
  "batch_size",
  "dimension",
  "shared_dimension",
  "sampling",
  "rate",
  "participation_rate",
  "population",
  "relation",
  "quantization_levels",
];
const AT_MOST = { participants: "clients", batch_size: "samples_per_client" };
/** A slider takes along what cannot exceed it. */
const NEEDED = new Set(["delta", "log10_delta", "gaussian_dp_mu"]);
/** One of them is always needed, though the schema cannot say so. */
const NARROW = matchMedia("(max-width: 900px)");
/** Where the answer stands below the form, which is then folded. */

/** The form: draws itself for an algorithm, keeps the body, says when it changed, shows problems beside fields. */
export class Form {
  constructor(place, contract, changed) {
    this.place = place;
    this.contract = contract;
    this.changed = changed;
    this.slots = new Map();
    this.controls = new Map();
    this.wrong = [];
    this.answer = null;
    this.folded = new Map();
    this.groups = [];
  }

  /** Draw the fields for a request schema; those of the example stand in front. */
  draw(schema, example, body) {
    this.schema = schema;
    this.example = example;
    this.body = body;
    this.slots.clear();
    this.controls.clear();
    const fields = this.contract.fields(schema);
    const solved = solvedBy(body, fields);
    this.solvable = new Set(fields.find((field) => field.name === "solve_for")?.choices ?? []);
    const chosen = (field) => WHO.includes(field.name) && field.choices?.length > 1;
    const front = (field) => chosen(field) || field.name in example || this.solvable.has(field.name) || field.name === "delta" || field.name === "solve_for";
    const shown = fields.filter((field) => front(field) && field.name !== solved && !(field.name === "delta" && "log10_delta" in body));
    if ("log10_delta" in body) shown.splice(1, 0, ...fields.filter((field) => field.name === "log10_delta" && !shown.includes(field)));
    const listed = (names) => names.map((name) => shown.find((field) => field.name === name)).filter(Boolean);
    const rest = shown.filter((field) => ![WHO, GOAL, RUN].some((names) => names.includes(field.name)));
    const more = fields.filter((field) => !shown.includes(field) && field.name !== solved);
    const open = more.some((field) => field.name in body);
    this.groups = [];
    this.place.replaceChildren(
      this.group("Protected unit and observer", listed(WHO), NARROW.matches),
      this.group("Privacy goal", listed(GOAL)),
      this.group("The run", listed(RUN), NARROW.matches),
      this.group("The learning problem", rest, NARROW.matches),
      el(
        "details",
        { class: "more", open },
        el("summary", {}, `More settings (${more.length})`),
        more.map((field) => this.control(field, field.name)),
      ),
    );
  }

  /** Fields that fold away under their name, which then says what they hold. */
  group(name, fields, folded = false) {
    if (!fields.length) return "";
    const digest = el("span", { class: "digest" });
    const place = el(
      "details",
      { class: "group", open: !(this.folded.get(name) ?? folded), ontoggle: () => this.folded.set(name, !place.open) },
      el("summary", {}, el("span", { class: "legend" }, name), digest),
      el("div", { role: "group", "aria-label": name }, fields.map((field) => this.control(field, field.name))),
    );
    this.groups.push({ fields, digest });
    this.digest();
    return place;
  }

  /** What the groups hold, in a line each. */
  digest() {
    const told = (value) => (typeof value === "number" ? number(value) : typeof value === "object" ? "given" : String(value));
    for (const { fields, digest } of this.groups) {
      const known = fields.map((field) => [field, at(this.body, field.name) ?? (WHO.includes(field.name) ? field.default : undefined)]).filter(([, value]) => value !== undefined);
      digest.textContent = known.map(([field, value]) => `${field.symbol ?? field.title.toLowerCase()}\u00a0${told(value)}`).join(", ");
    }
  }

  /** Put a value into the body and tell. */
  set(path, value) {
    this.body = put(this.body, path, value);
    for (const [small, large] of Object.entries(AT_MOST)) {
      if (path === large && typeof this.body[small] === "number" && this.body[small] > value) {
        this.body = { ...this.body, [small]: value };
        this.controls.get(small)?.show(value);
      }
    }
    this.digest();
    this.changed(this.body, path);
  }

  /** Put a value into the body and its control. */
  choose(path, value) {
    const control = this.controls.get(path);
    if (path in AT_MOST && value > this.body[AT_MOST[path]]) value = this.body[AT_MOST[path]];
    this.body = put(this.body, path, value);
    if (control) control.show(value);
    else this.redraw();
    this.digest();
    this.changed(this.body, path);
  }

  /** Whose data is protected: a record or a client. */
  protected() {
    return unitWord(this.body.unit) ?? this.contract.fields(this.schema).find((field) => field.name === "unit")?.default ?? "record";
  }

  redraw() {
    const focused = document.activeElement?.id;
    this.draw(this.schema, this.example, this.body);
    if (focused) document.getElementById(focused)?.focus();
  }

  control(field, path) {
    const id = `f-${path.replace(/\./g, "-")}`;
    const ids = { input: id, label: `${id}-label`, describedBy: `${id}-about ${id}-problem` };
    const about = el("p", { class: "about", id: `${id}-about` }, sentence(field, this.protected()));
    const slot = el("p", { class: "wrong", id: `${id}-problem` });
    this.slots.set(`/${path.replace(/\./g, "/")}`, { slot, id });
    const label = (target) =>
      el(
        "label",
        { id: ids.label, for: target },
        field.title,
        field.symbol ? el("span", { class: "symbol" }, field.symbol) : null,
        field.required || NEEDED.has(field.name) || this.solvable.has(field.name) ? null : el("span", { class: "optional" }, "optional"),
      );
    if (field.kind === "object") return this.object(field, path, about, slot);
    if (field.kind === "variants") return this.variants(field, path, id, label, about, slot);
    const parts = { number: this.number, choice: this.choice, "yes-no": this.choice, json: this.json }[field.kind].call(this, field, path, ids);
    return el("div", { class: `field ${field.kind}` }, label(id), parts, about, slot);
  }

  number(field, path, ids) {
    const made = slider(field, at(this.body, path), ids, (value) => this.set(path, value));
    this.controls.set(path, made);
    return made.parts;
  }

  choice(field, path, ids) {
    const choices = field.kind === "yes-no" ? [true, false] : field.choices;
    const words = (value) => ({ true: "yes", false: "no" })[value] ?? String(unitWord(value));
    const absent = field.default === undefined ? "chosen for you" : `${words(field.default)} (usual)`;
    const offered = field.required || at(this.body, path) === field.default ? choices : choices.filter((each) => each !== field.default);
    const select = el(
      "select",
      { id: ids.input, "aria-describedby": ids.describedBy, onchange: () => this.chosen(path, field, select.value) },
      field.required && at(this.body, path) !== undefined ? null : el("option", { value: "" }, absent),
      offered.map((each) => el("option", { value: JSON.stringify(each) }, words(each))),
    );
    select.value = at(this.body, path) === undefined ? "" : JSON.stringify(at(this.body, path));
    return [select];
  }

  chosen(path, field, text) {
    const value = text === "" ? undefined : JSON.parse(text);
    if (path === "solve_for") {
      const fields = this.contract.fields(this.schema);
      this.body = swap(this.body, value ?? field.default, this.body.solve_for ?? field.default, this.answer, fields);
      this.redraw();
      this.changed(this.body, path);
      return;
    }
    this.set(path, value);
    if (path.endsWith("kind") || path === "unit") this.redraw();
  }

  json(field, path, ids) {
    const value = at(this.body, path);
    const box = el("textarea", {
      id: ids.input,
      rows: 2,
      spellcheck: false,
      placeholder: "JSON, for example [ … ]",
      "aria-describedby": ids.describedBy,
      oninput: () => {
        try {
          this.set(path, box.value.trim() === "" ? undefined : JSON.parse(box.value));
          box.removeAttribute("data-unread");
        } catch {
          box.toggleAttribute("data-unread", true);
        }
      },
    });
    box.value = value === undefined ? "" : JSON.stringify(value);
    return [box];
  }

  object(field, path, about, slot) {
    const inner = this.contract.fields(field.schema);
    const wanted = inner.filter((each) => each.name === "kind" || at(this.body, `${path}.${each.name}`) !== undefined);
    const others = inner.filter((each) => !wanted.includes(each));
    return el(
      "fieldset",
      { class: "nested" },
      el("legend", {}, field.title),
      about,
      slot,
      wanted.map((each) => this.control(each, `${path}.${each.name}`)),
      others.length
        ? el("details", {}, el("summary", {}, `More fields (${others.length})`), others.map((each) => this.control(each, `${path}.${each.name}`)))
        : null,
    );
  }

  variants(field, path, id, label, about, slot) {
    const value = at(this.body, path);
    const kind = value?.[field.tag];
    const select = el(
      "select",
      {
        id,
        onchange: () => {
          this.body = put(this.body, path, select.value ? { [field.tag]: select.value } : undefined);
          this.redraw();
          this.changed(this.body, path);
        },
      },
      el("option", { value: "" }, "none"),
      [...field.variants.keys()].map((each) => el("option", { value: each }, each)),
    );
    select.value = kind ?? "";
    const inner = kind ? this.contract.fields(field.variants.get(kind)).filter((each) => each.name !== field.tag) : [];
    return el(
      "fieldset",
      { class: "nested" },
      el("legend", {}, field.title, field.symbol ? el("span", { class: "symbol" }, field.symbol) : null),
      el("div", { class: "field" }, label(id), select, about, slot),
      inner.map((each) => this.control({ ...each, title: `${field.title}: ${each.name}` }, `${path}.${each.name}`)),
    );
  }

  /** Show each error beside its field; those that belong to no field that is shown are returned. */
  complain(errors) {
    for (const { slot, id } of this.slots.values()) {
      slot.replaceChildren();
      document.getElementById(id)?.removeAttribute("aria-invalid");
    }
    const left = [];
    this.wrong = [];
    for (const error of errors) {
      const found = this.slots.get(error.pointer) ?? this.slots.get(error.pointer.replace(/\/\d+(\/.*)?$/, ""));
      if (!found) {
        left.push(error);
        continue;
      }
      found.slot.textContent = `${error.message}${error.allowed ? ` (allowed: ${error.allowed})` : ""}`;
      for (let fold = found.slot.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
      document.getElementById(found.id)?.setAttribute("aria-invalid", "true");
      this.wrong.push({ id: found.id, name: error.pointer.split("/")[1], message: found.slot.textContent });
    }
    return left;
  }

  /** Put the hand on a field, wherever it is. */
  go(id) {
    const field = document.getElementById(id);
    field?.scrollIntoView({ block: "center" });
    field?.focus();
  }
}

/** What a field is as a sentence, of the unit that is protected, with its unit of measure. */
function sentence(field, of) {
  const text = field.meaning(of);
  const unit = field.unit && field.unit !== "nat" ? ` [${field.unit}]` : "";
  return text ? `${capital(text)}${unit}` : "";
}
