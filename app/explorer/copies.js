// The call that gives what is on the screen: for a shell, for Python, for TypeScript.

import { accessKey, calibrationPath, urlOf } from "./api.js";
import { el } from "./dom.js";

const shell = (text) => `'${text.replace(/'/g, "'\\''")}'`;

export function curl(algorithm, body) {
  const lines = [`curl -sS ${shell(urlOf(calibrationPath(algorithm)))}`, `-H 'content-type: application/json'`];
  if (accessKey()) lines.push(`-H "authorization: Bearer $EPSILOND_API_KEY"`);
  lines.push("-H 'prefer: wait=60'", `-d ${shell(JSON.stringify(body, null, 2))}`);
  return lines.join(" \\\n  ");
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const KEYWORDS = new Set(
  ("False None True and as assert async await break class continue def del elif else except finally for from global if import in is " +
    "lambda nonlocal not or pass raise return try while with yield").split(" "),
);

/** A JSON value as Python writes it. */
function literal(value) {
  if (value === null) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value === "object") {
    return `{${Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${literal(each)}`).join(", ")}}`;
  }
  return JSON.stringify(value);
}

/** An argument of a call. The address may name anything, and what is not a name is quoted, so that it is never code. */
const argument = (name, value) =>
  NAME.test(name) && !KEYWORDS.has(name) ? `${name}=${literal(value)}` : `**{${JSON.stringify(name)}: ${literal(value)}}`;

export function python(algorithm, body) {
  const fields = Object.entries(body).map(([name, value]) => `    ${argument(name, value)},\n`);
  return `import epsilond\n\nanswer = epsilond.calibrate(\n    ${JSON.stringify(algorithm)},\n${fields.join("")})\nprint(answer.parameters)\nprint(answer.guarantee.epsilon)\n`;
}

export function typescript(algorithm, body) {
  const key = accessKey() ? `\n  "authorization": \`Bearer \${process.env.EPSILOND_API_KEY}\`,` : "";
  const text = JSON.stringify(body, null, 2).replace(/\n/g, "\n  ");
  return [
    `const headers = {${key}\n  "content-type": "application/json",\n};`,
    `let response = await fetch(${JSON.stringify(urlOf(calibrationPath(algorithm)))}, {`,
    `  method: "POST",`,
    `  headers,`,
    `  body: JSON.stringify(${text}),`,
    `});`,
    `let answer = await response.json();`,
    `while (answer.state === "queued" || answer.state === "running") {`,
    `  // it takes long: wait for the job that computes it`,
    `  response = await fetch(${JSON.stringify(urlOf("v1/jobs/"))} + answer.id, { headers: { ...headers, prefer: "wait=30" } });`,
    `  answer = await response.json();`,
    `}`,
    `if (!response.ok || answer.problem) throw new Error((answer.problem ?? answer).detail);`,
    `const { parameters, guarantee } = answer.result ?? answer;`,
    `console.log(parameters, guarantee.epsilon);\n`,
  ].join("\n");
}

const KINDS = [
  ["curl", "curl", curl],
  ["python", "Python", python],
  ["typescript", "TypeScript", typescript],
];

/** A button for the address and for each text, side by side; the texts themselves are folded below. */
export class Copies {
  constructor(place) {
    this.texts = {};
    const told = el("span", { role: "status", class: "told" });
    const button = (id, name, text) => el("button", { type: "button", id: `copy-${id}`, onclick: () => copy(text(), told) }, `Copy ${name}`);
    const parts = KINDS.map(([id, name]) => {
      this.texts[id] = el("code", { id: `text-${id}` });
      const text = el("pre", { tabindex: "0", role: "region", "aria-label": `The call in ${name}` }, this.texts[id]);
      return el("details", { class: "copy" }, el("summary", {}, `The call in ${name}`), text);
    });
    place.replaceChildren(
      el("p", { class: "row" }, button("link", "the address", () => location.href), KINDS.map(([id, name]) => button(id, name, () => this.texts[id].textContent)), told),
      ...parts,
    );
  }

  show(algorithm, body) {
    for (const [id, , text] of KINDS) this.texts[id].textContent = text(algorithm, body);
  }
}

async function copy(text, told) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el("textarea", { class: "visually-hidden" }); // where the clipboard is closed to pages without TLS
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  told.textContent = "Copied";
  setTimeout(() => (told.textContent = ""), 2000);
}
