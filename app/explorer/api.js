// The service: its documents, its answers, its problems. Every path is relative, so that a proxy may mount it anywhere.

import { finished } from "./jobs.js";

const KEY = "epsilond-key";
let key = "";
try {
  key = sessionStorage.getItem(KEY) ?? "";
} catch {
  // then it lasts as long as the page
}

export const accessKey = () => key;

/** Keep the key for this tab; an empty one is forgotten. */
export function useKey(given) {
  key = given.trim();
  try {
    if (key) sessionStorage.setItem(KEY, key);
    else sessionStorage.removeItem(KEY);
  } catch {
    // then it lasts as long as the page
  }
}

/** An answer that is a problem (RFC 9457), or something like one where the service could not be reached. */
export class Problem extends Error {
  constructor(body) {
    super(body.detail ?? body.title);
    this.body = body;
    this.status = body.status;
  }
}

export const urlOf = (path) => new URL(path, document.baseURI).href;

const MOST_TRIES = 6;
const LONGEST_PAUSE = 300;
/** Seconds; what is put off for longer is told as the problem it is. */

/** Headers with the key, for those requests that are not made here. */
export const withKey = (headers = {}) => (key ? { ...headers, authorization: `Bearer ${key}` } : headers);

const abortError = () => new DOMException("It was broken off.", "AbortError");

/** Wait so many seconds, or until `now` is called, which is handed to told(now); an abort ends it with an error. */
export function pause(seconds, signal, told = () => {}) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(abortError());
    };
    const go = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
      resolve();
    };
    const timer = setTimeout(go, 1000 * seconds);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
    told(go);
  });
}

/** One request; {status, body, after}: its document, and the seconds of Retry-After. */
async function once(path, options) {
  let response;
  try {
    response = await fetch(urlOf(path), { ...options, headers: withKey(options.headers) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem({ title: "The service does not answer", detail: "It may be stopped, or the network down.", status: 0 });
  }
  const text = await response.text();
  const { status } = response;
  const told = response.headers.get("retry-after");
  try {
    return { status, body: JSON.parse(text), after: /^\d+$/.test(told ?? "") ? Number(told) : null };
  } catch {
    throw new Problem({ title: `The service answered ${status}`, detail: "without a document", status });
  }
}

/**
 * A request until it is answered; {status, body}. What the service puts off is sent again after the time it names, and
 * told({state: "busy", problem, until, now}) hears of it: `now` sends it without waiting longer; and told({state:
 * "asking"}) when it is sent. With `lasting` a network that is down is borne for a while too.
 */
export async function ask(path, { told = () => {}, lasting = false, ...options } = {}) {
  for (let tried = 1; ; tried += 1) {
    let seconds;
    let problem;
    try {
      const { status, body, after } = await once(path, options);
      if (status < 400) return { status, body };
      problem = { status, ...body };
      seconds = [429, 503].includes(status) && after !== null && after <= LONGEST_PAUSE ? after + Math.random() : undefined;
    } catch (error) {
      if (!(error instanceof Problem && error.status === 0 && lasting)) throw error;
      problem = error.body;
      seconds = 2 ** tried;
    }
    if (seconds === undefined || tried >= MOST_TRIES) throw new Problem(problem);
    await pause(seconds, options.signal, (now) => told({ state: "busy", problem, until: performance.now() + 1000 * seconds, now }));
    told({ state: "asking" });
  }
}

const fresh = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

export const get = async (path, options) => (await ask(path, options)).body;

/**
 * The answer to a question, however long it takes. After `wait` seconds it is a job of the service, which is followed;
 * told(news) hears of it, of the job as of a service that is busy. An abort cancels the job.
 */
export async function post(path, body, { signal, told, wait = 2 } = {}) {
  const headers = { "content-type": "application/json", prefer: `wait=${wait}`, "idempotency-key": fresh() };
  const answer = await ask(path, { method: "POST", headers, body: JSON.stringify(body), signal, told });
  return answer.status === 202 ? finished(answer.body, { signal, told }) : answer.body;
}
export const calibrationPath = (algorithm) => `v1/calibrations/${algorithm}`;
export const riskBoundPath = (algorithm) => `v1/risk-bounds/${algorithm}`;

/**
 * Run `ask(item)` for every item, at most `width` at a time, and tell of each as it comes: told(item, answer, problem).
 * Ends early, without a word, when the signal is aborted.
 */
export async function several(items, ask_, told, { width = 2, signal } = {}) {
  const queue = [...items];
  const worker = async () => {
    while (queue.length && !signal?.aborted) {
      const item = queue.shift();
      try {
        told(item, await ask_(item), null);
      } catch (error) {
        if (error.name === "AbortError") return;
        if (!(error instanceof Problem)) throw error;
        told(item, null, error.body);
      }
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
}
