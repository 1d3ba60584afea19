// A limit on ε that a policy sets: kept in this browser, judged beside every answer, a line in every picture.

import { el } from "./dom.js";
import { number } from "./words.js";

const KEPT = "epsilond-limit";

function kept() {
  try {
    return localStorage.getItem(KEPT) ?? "";
  } catch {
    return ""; // storage may be closed to this page
  }
}

function keep(text) {
  try {
    if (text) localStorage.setItem(KEPT, text);
    else localStorage.removeItem(KEPT);
  } catch {
    // then it lasts as long as the page
  }
}

export class Limit {
  /** changed() is called when the limit is. */
  constructor(place, changed) {
    this.verdict = el("span", { class: "judged", role: "status" });
    this.box = el("input", { id: "limit", class: "box", type: "text", inputMode: "decimal", autocomplete: "off", placeholder: "none", "aria-describedby": "limit-about", value: kept(), oninput: () => this.set(changed) });
    place.replaceChildren(
      el("label", { for: "limit" }, "Your policy's limit on ε"),
      this.box,
      this.verdict,
      el("span", { class: "small", id: "limit-about" }, "Stored in this browser, and drawn in the plots."),
    );
    this.epsilon = null;
  }

  /** The limit, or undefined where there is none. */
  get value() {
    const text = this.box.value.trim();
    return text !== "" && Number(text) > 0 && Number.isFinite(Number(text)) ? Number(text) : undefined;
  }

  set(changed) {
    const unread = this.box.value.trim() !== "" && this.value === undefined;
    this.box.toggleAttribute("data-unread", unread);
    keep(this.value === undefined ? "" : String(this.value));
    this.show(this.epsilon);
    changed();
  }

  /** Judge a certified ε, or nothing. */
  show(epsilon) {
    this.epsilon = epsilon;
    const { value } = this;
    const [kind, text] = epsilon === null || value === undefined ? ["", ""] : judged(epsilon, value);
    this.verdict.dataset.kept = kind;
    this.verdict.textContent = text;
  }
}

/** Whether a limit is kept: the upper end shows that it is, the lower one that it is not. */
function judged({ lower, upper }, limit) {
  const end = (value) => (value === "unbounded" ? Infinity : value);
  if (end(upper) <= limit) return ["yes", `✓ Kept: ε is at most ${number(upper, 4, "up")}.`];
  if (end(lower) > limit) return ["no", `✗ Broken: ε is at least ${number(lower, 4, "down")}.`];
  return ["open", `? Not proved to be kept: ε may be up to ${number(upper, 4, "up")}.`];
}
