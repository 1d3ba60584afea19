// Warnings, problems, and why the answer is true.

import { urlOf } from "./api.js";
import { el } from "./dom.js";
import { capital, number, title } from "./words.js";

export function showWarnings(place, warnings) {
  place.replaceChildren(
    warnings.length
      ? el("details", { class: "warnings", open: true }, el("summary", {}, warnings.length === 1 ? "One warning" : `${warnings.length} warnings`), el("ul", {}, warnings.map(({ message }) => el("li", {}, capital(message)))))
      : "",
  );
}

/** What a problem is about: numbers that cannot be, a run that nothing certifies, or the service. */
export const kindOf = ({ status }) => ({ 400: "invalid", 413: "invalid", 422: "invalid", 409: "infeasible" })[status] ?? "failed";
const MARKS = { invalid: "✎", infeasible: "≠", failed: "!" };

/**
 * Draw a problem; `left` are the errors that stand beside no field. The nearest values that would do are buttons that
 * call choose(field, value), the `fields` that are wrong are buttons that call go(id); where the service failed, a button calls again().
 */
export function showProblem(place, problem, left, { choose, fields = [], go, again } = {}) {
  if (!problem) {
    place.replaceChildren();
    return;
  }
  const { condition, nearest, considered } = problem;
  place.replaceChildren(
    el(
      "div",
      { class: `problem card ${kindOf(problem)}`, role: "alert" },
      el("h3", {}, el("span", { class: "sign", "aria-hidden": "true" }, MARKS[kindOf(problem)]), problem.title ?? "No answer"),
      fields.length && !left.length ? null : el("p", {}, capital(problem.detail ?? "")),
      fields.length
        ? el("ul", { class: "wrong" }, fields.map(({ id, name, message }) => el("li", {}, el("button", { type: "button", onclick: () => go(id) }, title(name)), ` ${message}`)))
        : null,
      left.length ? el("ul", {}, left.map((error) => el("li", {}, el("code", {}, error.pointer), ` ${error.message}${error.allowed ? ` (allowed: ${error.allowed})` : ""}`))) : null,
      condition ? el("p", {}, `Condition: ${condition.statement}`, condition.left !== undefined ? ` (here ${number(condition.left)} against ${number(condition.right)})` : "") : null,
      nearest
        ? el(
            "p",
            { class: "nearest" },
            "Nearest values that can be met: ",
            Object.entries(nearest)
              .filter(([, value]) => typeof value === "number" || !value.endsWith("unbounded"))
              .map(([field, value]) => el("button", { type: "button", onclick: () => choose(field, value) }, `${title(field)} = ${number(value, 6)}`)),
          )
        : null,
      considered
        ? el("details", {}, el("summary", {}, "Reason for each theorem"), el("ul", {}, considered.map(({ theorem, reason }) => el("li", {}, el("code", {}, theorem), ` ${reason}`))))
        : null,
      again && kindOf(problem) === "failed" ? el("p", { class: "row" }, el("button", { type: "button", class: "again", onclick: again }, "Ask again")) : null,
    ),
  );
}

/** The theorems used, in their order, and what the caller must see to. */
export function showWhy(place, answer, titles) {
  const steps = answer.derivation ?? [];
  const declared = answer.declared_conditions ?? [];
  const ofTheRisk = answer.risk?.declared_conditions ?? [];
  const bound = answer.risk?.upper?.theorem ?? answer.risk?.lower?.theorem;
  place.replaceChildren(
    el(
      "ol",
      { class: "steps" },
      steps.map(({ theorem, inputs }) =>
        el(
          "li",
          {},
          titles.get(theorem) ?? theorem,
          " ",
          el("a", { class: "id", href: urlOf(`guide/theorems/${theorem}.html`) }, theorem),
          el("span", { class: "small" }, inputsOf(inputs)),
        ),
      ),
    ),
    declared.length
      ? el("details", { open: true }, el("summary", {}, "What you must ensure"), el("ul", {}, declared.map(({ statement }) => el("li", {}, capital(statement)))))
      : "",
    ofTheRisk.length && bound
      ? el("p", { class: "small" }, `The bound on the risk also assumes: ${ofTheRisk.map((id) => id.replace(/-/g, " ")).join(", ")} (`, el("a", { href: urlOf(`guide/theorems/${bound}.html`) }, bound), ").")
      : "",
  );
}

const inputsOf = (inputs) => {
  const known = Object.entries(inputs ?? {}).filter(([, value]) => typeof value === "number");
  return known.length ? ` with ${known.map(([name, value]) => `${name.replace(/_/g, " ")} ${number(value)}`).join(", ")}` : "";
};
