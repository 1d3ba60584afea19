// A number as a slider on a logarithmic scale, with a box beside it for the exact value.

import { el } from "./dom.js";

const STEPS = 300;

const RANGES = {
  epsilon: [0.01, 100],
  delta: [1e-12, 0.1],
  log10_delta: [-300, -1],
  samples_per_client: [1, 1e7],
  clients: [1, 1e7],
  participants: [1, 1e7],
  rounds: [1, 1e7],
  batch_size: [1, 1e7],
  population: [1, 1e9],
  dimension: [1, 1e9],
  shared_dimension: [1, 1e9],
  noise_multiplier: [0.01, 1000],
  rate: [1e-6, 1],
  participation_rate: [1e-6, 1],
};
/** Where a slider begins and ends; the box takes anything the service does. */
function ends(field, value) {
  const middle = typeof value === "number" && value > 0 ? value : 1;
  let [low, high] = RANGES[field.name] ?? [middle / 1000, middle * 1000];
  if (field.name !== "log10_delta") {
    if (field.integer) low = Math.max(1, low);
    if (field.minimum > 0) low = Math.max(low, field.minimum);
    if (Number.isFinite(field.maximum)) high = Math.min(high, field.maximum);
    if (typeof value === "number" && value > 0) [low, high] = [Math.min(low, value), Math.max(high, value)];
  }
  return [low, high];
}

/** Three digits are what a hand on a slider means; counts up to 1000 are exact. */
const tidy = (value, integer) => {
  const short = Number(value.toPrecision(3));
  return integer ? Math.max(1, Math.round(short)) : short;
};

/**
 * The control of a number field.
 * changed(value) is called with a number, a word the field allows, or undefined when the box is emptied.
 */
export function slider(field, value, ids, changed) {
  const zero = !field.integer && field.minimum === 0 && !field.open;
  const linear = field.name === "log10_delta";
  let [low, high] = ends(field, value ?? field.default);
  const toPosition = (number_) => {
    if (typeof number_ !== "number") return STEPS / 2;
    if (linear) return Math.round((STEPS * (number_ - low)) / (high - low));
    if (number_ <= 0) return 0;
    return Math.round((STEPS * Math.log(number_ / low)) / Math.log(high / low));
  };
  const toValue = (position) => {
    if (zero && position === 0) return 0;
    if (linear) return Math.round(low + ((high - low) * position) / STEPS);
    return tidy(low * (high / low) ** (position / STEPS), field.integer);
  };
  const range = el("input", {
    type: "range",
    id: `${ids.input}-slider`,
    min: "0",
    max: String(STEPS),
    step: "1",
    "aria-labelledby": ids.label,
    "aria-describedby": ids.describedBy,
    oninput: () => {
      const moved = toValue(Number(range.value));
      show(moved, false);
      changed(moved);
    },
  });
  const box = el("input", {
    type: "text",
    inputMode: "decimal",
    id: ids.input,
    class: "box",
    placeholder: field.required ? "" : "chosen for you",
    "aria-describedby": ids.describedBy,
    spellcheck: false,
    oninput: () => {
      const typed = read(box.value, field);
      box.toggleAttribute("data-unread", typed === null);
      if (typed === null) return;
      [low, high] = ends(field, typed ?? field.default);
      position(typed);
      changed(typed);
    },
  });
  const position = (number_) => {
    const set = typeof number_ === "number";
    range.value = String(toPosition(set ? number_ : field.default));
    range.classList.toggle("unset", !set);
    range.setAttribute("aria-valuetext", set ? String(number_) : number_ ?? (field.default !== undefined ? `${field.default}, unless you say` : "chosen for you"));
  };
  const show = (number_, move = true) => {
    box.value = number_ === undefined ? "" : String(number_);
    if (move) position(number_);
    else {
      range.classList.remove("unset");
      range.setAttribute("aria-valuetext", String(number_));
    }
  };
  if (!field.required && field.default !== undefined) box.placeholder = String(field.default);
  show(value);
  return { parts: [box, range], show: (number_) => {
    [low, high] = ends(field, number_ ?? field.default);
    show(number_);
  } };
}

/** A typed number or allowed word; undefined if empty, null if it is neither. */
function read(text, field) {
  const plain = text.trim();
  if (plain === "") return undefined;
  if (field.words?.includes(plain)) return plain;
  const value = Number(plain.replace(/[\s_,](?=\d{3}\b)/g, ""));
  return Number.isFinite(value) ? value : null;
}
