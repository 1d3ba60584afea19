// What can be saved of the answer on the screen: a report to sign, and the answer itself.

import { urlOf, withKey } from "./api.js";
import { el } from "./dom.js";

/** Save a blob under a name. */
function save(blob, name) {
  const address = URL.createObjectURL(blob);
  el("a", { href: address, download: name }).click();
  URL.revokeObjectURL(address);
}

/** The problem that a response holds, in a sentence. */
async function refusal(response) {
  const problem = await response.json().catch(() => ({}));
  return problem.detail ?? problem.title ?? `The service answered ${response.status}.`;
}

export class Downloads {
  constructor(place) {
    this.told = el("span", { role: "status", class: "told" });
    this.report = el("button", { type: "button", id: "save-report", onclick: () => this.saveReport() }, "Save a report to sign");
    this.json = el("button", { type: "button", id: "save-answer", onclick: () => this.saveAnswer() }, "Save the answer as JSON");
    place.replaceChildren(el("p", { class: "row" }, this.report, this.json, this.told));
    this.show(null);
  }

  /** What can be saved now: an answer with its question, or nothing. */
  show(algorithm, body = null, answer = null) {
    Object.assign(this, { algorithm, body, answer });
    this.report.disabled = this.json.disabled = answer === null;
    this.told.textContent = "";
  }

  saveAnswer() {
    save(new Blob([JSON.stringify(this.answer, null, 2)], { type: "application/json" }), `${this.algorithm}.json`);
    this.told.textContent = "Saved";
  }

  async saveReport() {
    const { algorithm, body } = this;
    this.told.textContent = "The report is being made…";
    this.report.disabled = true;
    try {
      const headers = withKey({ "content-type": "application/json", prefer: "wait=60" });
      const date = new Date().toISOString().slice(0, 10);
      const response = await fetch(urlOf("v1/reports"), { method: "POST", headers, body: JSON.stringify({ kind: "calibration", algorithm, request: body, date }) });
      if (response.status === 202) this.told.textContent = "It takes long and became a job: epsilond jobs shows it.";
      else if (!response.ok) this.told.textContent = await refusal(response);
      else {
        save(await response.blob(), `${algorithm}.html`);
        this.told.textContent = "Saved";
      }
    } catch {
      this.told.textContent = "The service does not answer.";
    } finally {
      this.report.disabled = this.answer === null;
    }
  }
}
