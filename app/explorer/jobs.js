// A question that became a job of the service: followed to its end, or cancelled by whoever asked.

import { Problem, ask, pause, urlOf, withKey } from "./api.js";

const HELD = 5;
/** Seconds for which the service holds a look at a job, where its events cannot be had. */

const isOver = ({ state }) => state !== "queued" && state !== "running";
const pathOf = ({ id }) => `v1/jobs/${id}`;

/** Cancel a job whose asker has gone; nobody waits to hear whether it worked. */
function cancel(job) {
  fetch(urlOf(pathOf(job)), { method: "DELETE", headers: withKey(), keepalive: true }).catch(() => {});
}

/** The answer of a job, which told({state, job}) hears of; an abort cancels it, and its problem is thrown. */
export async function finished(accepted, { signal, told = () => {} }) {
  let job = accepted;
  const leave = () => isOver(job) || cancel(job);
  if (signal?.aborted) leave();
  signal?.addEventListener("abort", leave, { once: true });
  try {
    for (told({ state: "computing", job }); !isOver(job); ) {
      job = await followed(job, { signal, told });
    }
    const options = { signal, told, lasting: true };
    if (job.state === "done") return (await ask(`${pathOf(job)}/result`, options)).body;
    const { body } = await ask(pathOf(job), options);
    throw new Problem(body.problem ?? { title: "The computation was cancelled", detail: "Another page or program cancelled it.", status: 0 });
  } finally {
    signal?.removeEventListener("abort", leave);
  }
}

/** The job after its events: at its end, or, where they break off, after a look at it. */
async function followed(job, { signal, told }) {
  let last = job;
  try {
    for await (const event of events(`${pathOf(job)}/events`, signal)) {
      last = event;
      told({ state: "computing", job: last });
      if (isOver(last)) return last;
    }
  } catch (error) {
    if (error.name === "AbortError") throw error;
    if (!(error instanceof TypeError)) throw error; // what a network that fails throws
  }
  const began = performance.now();
  const looking = (news) => told(news.state === "asking" ? { state: "computing", job: last } : news);
  const { body } = await ask(pathOf(job), { headers: { prefer: `wait=${HELD}` }, signal, told: looking, lasting: true });
  told({ state: "computing", job: body });
  if (!isOver(body) && performance.now() - began < 1000) await pause(1, signal);
  return body;
}

/**
 * The jobs that the events of a stream tell of; none where the service has no room for a stream. It is read here and not
 * by an EventSource, which cannot send a key.
 */
async function* events(path, signal) {
  const response = await fetch(urlOf(path), { headers: withKey({ accept: "text/event-stream" }), signal });
  if (!response.ok || !response.headers.get("content-type")?.startsWith("text/event-stream")) {
    await response.body?.cancel();
    return;
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const parts = (text + value).split(/\r?\n\r?\n/);
      text = parts.pop();
      for (const part of parts) {
        const data = part.split(/\r?\n/).filter((line) => line.startsWith("data:")).map((line) => line.slice(5));
        if (data.length) yield JSON.parse(data.join("\n"));
      }
    }
  } finally {
    reader.cancel().catch(() => {}); // where it has broken there is nothing to cancel
  }
}
