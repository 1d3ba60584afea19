// Evaluates a theorem's formula on its page where the service shows the page; elsewhere nothing appears.

const PAUSE = 300;

function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const written = (value) => (value !== null && typeof value === "object" ? JSON.stringify(value) : String(value));

function table(caption, head, rows) {
  const cells = (kind, row) => el("tr", {}, ...row.map((each) => el(kind, {}, each)));
  return el("table", {}, el("caption", {}, caption), el("thead", {}, cells("th", head)), el("tbody", {}, ...rows.map((row) => cells("td", row))));
}

function shown({ outputs, conditions }) {
  const sides = ({ left, right }) => (left === undefined ? "" : `${left} and ${right}`);
  return [
    table("What the formula gives", ["output", "value"], Object.entries(outputs).map(([name, value]) => [name, written(value)])),
    conditions.length ? table("Its conditions here", ["condition", "holds", "sides"], conditions.map((each) => [each.statement, each.holds, sides(each)])) : "",
  ];
}

function refused(problem) {
  const faults = (problem.errors ?? []).map(({ pointer, message, allowed }) => el("li", {}, `${pointer} ${message}${allowed ? ` (${allowed})` : ""}`));
  return [el("p", {}, problem.detail ?? problem.title ?? "No answer."), el("ul", {}, ...faults)];
}

function live(place, url) {
  const inputs = el("textarea", { id: "evaluate-inputs", rows: "8", spellcheck: "false" });
  inputs.value = JSON.stringify(JSON.parse(place.dataset.example), null, 2);
  const reading = el("select", { id: "evaluate-reading" }, ...place.dataset.readings.split(" ").map((each) => el("option", {}, each)));
  const answer = el("div", { role: "status", "aria-live": "polite" });
  let stop = new AbortController();
  let waiting;
  const ask = async () => {
    stop.abort();
    stop = new AbortController();
    let given;
    try {
      given = JSON.parse(inputs.value);
    } catch (error) {
      answer.replaceChildren(el("p", {}, `The inputs are not JSON yet: ${error.message}`));
      return;
    }
    place.setAttribute("aria-busy", "true");
    try {
      const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ inputs: given, reading: reading.value }), signal: stop.signal });
      const body = await response.json();
      answer.replaceChildren(...(response.ok ? shown(body) : refused(body)));
      place.removeAttribute("aria-busy");
    } catch (error) {
      if (error.name !== "AbortError") answer.replaceChildren(el("p", {}, "The service does not answer."));
    }
  };
  const soon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(ask, PAUSE);
  };
  inputs.addEventListener("input", soon);
  reading.addEventListener("change", ask);
  place.replaceChildren(el("label", { for: "evaluate-inputs" }, "Inputs"), inputs, el("label", { for: "evaluate-reading" }, "Reading"), reading, answer);
  ask();
}

for (const place of document.querySelectorAll(".evaluate")) {
  const theorem = new URL(`../../v1/theorems/${place.dataset.theorem}`, location.href);
  fetch(theorem, { method: "GET" })
    .then((response) => response.ok && response.headers.get("content-type")?.startsWith("application/json") && live(place, `${theorem}/evaluations`))
    .catch(() => {});
}
