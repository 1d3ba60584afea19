// The page of ledgers: all of them, or the one that the address names behind #.

import { keyForm, skipLinks } from "./access.js";
import { Problem, get } from "./api.js";
import { byId } from "./dom.js";
import { showLedger } from "./ledger.js";
import { showList } from "./ledger-list.js";
import { Progress } from "./progress.js";
import { kindOf, showProblem } from "./remarks.js";

const content = byId("content");
let stop = new AbortController();

/** The id that the address names, or null: then all are shown. */
function named() {
  const match = /^#\/([^/?]+)$/.exec(location.hash);
  try {
    return match ? decodeURIComponent(match[1]) : null;
  } catch {
    return null;
  }
}

const progress = new Progress(byId("progress"), byId("spoken"), {
  cancel: () => {
    stop.abort();
    progress.cancelled("the page");
    stand("cancelled");
  },
  again: () => show(),
});

/** Say in the page what state it is in: asking, shown, refused or cancelled. */
function stand(state) {
  content.dataset.state = state;
  content.setAttribute("aria-busy", String(state === "asking"));
}

function refuse(problem) {
  progress.hide();
  const words = { 401: "Type a key into “Access key”, above.", 403: /\brole\b/.test(problem.detail) ? "" : "The key needs the scope “ledger”." }[problem.status];
  showProblem(byId("problem"), { ...problem, detail: [problem.detail, words].filter(Boolean).join(" ") }, [], { choose: () => {}, again: () => show() });
  stand(kindOf(problem) === "failed" ? "failed" : "refused");
  byId("spoken").textContent = `No answer. ${problem.title ?? ""}`;
  if (problem.status === 401) byId("access").open = true;
}

/** Ask the service, and show what it answers; what was asked before is given up. */
async function show() {
  stop.abort();
  const mine = (stop = new AbortController());
  const id = named();
  const attempt = async (work) => {
    try {
      await work();
      if (mine === stop) showProblem(byId("problem"), null);
    } catch (error) {
      if (error.name === "AbortError" || mine !== stop) return;
      if (!(error instanceof Problem)) throw error;
      refuse(error.body);
    }
  };
  const options = { signal: mine.signal, told: (news) => mine === stop && progress.show(news, "the page"), attempt, again: () => show() };
  stand("asking");
  if (content.dataset.shown !== (id ?? "")) byId("shown").replaceChildren();
  await attempt(async () => {
    const place = byId("shown");
    if (id === null) {
      document.title = "epsilond: ledgers";
      byId("spoken").textContent = await showList(place, options);
    } else {
      const ledger = await get(`v1/ledgers/${encodeURIComponent(id)}`, options);
      document.title = `${ledger.name}: a ledger of epsilond`;
      showLedger(place, ledger, options);
      byId("spoken").textContent = ledger.guarantee ? ledger.guarantee.in_words : `The ledger ${ledger.name} is contradicted, so there is no ε.`;
    }
    progress.hide();
    content.dataset.shown = id ?? "";
    stand("shown");
  });
}

keyForm(() => show());
skipLinks("content");
addEventListener("hashchange", async () => {
  await show();
  scrollTo({ top: 0 });
  content.focus({ preventScroll: true });
});
addEventListener("pagehide", () => stop.abort());
addEventListener("pageshow", (event) => event.persisted && show());
show();
