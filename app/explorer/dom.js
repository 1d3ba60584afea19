// Elements in one expression. Text is always text: nothing from the service becomes markup.

/** An element with properties (`on…` are listeners, `data`/`aria` maps, `class` the class name) and children. */
export function el(tag, props = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.className = value;
    else if (name in made && name !== "list" && typeof value !== "object") made[name] = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** A table from a caption, a head and rows of cells (text or elements); the first cell of a row names it. */
export function table(caption, head, rows, props = {}) {
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el(
      "table",
      props,
      el("caption", { class: "visually-hidden" }, caption),
      el("thead", {}, el("tr", {}, head.map((cell) => el("th", { scope: "col" }, cell)))),
      el(
        "tbody",
        {},
        rows.map(([first, ...others]) =>
          el("tr", {}, el("th", { scope: "row" }, first), others.map((cell) => el("td", {}, cell))),
        ),
      ),
    ),
  );
}

export const byId = (id) => document.getElementById(id);
