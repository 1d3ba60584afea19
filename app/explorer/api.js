// The service: its documents, its answers, its problems. Every path is relative, so that a proxy may mount it anywhere.

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

async function ask(path, options = {}) {
  const headers = { ...options.headers };
  if (key) headers.authorization = `Bearer ${key}`;
  let response;
  try {
    response = await fetch(urlOf(path), { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem({ title: "The service does not answer", detail: "It may be stopped, or the network down.", status: 0 });
  }
  const text = await response.text();
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    body = { title: `The service answered ${response.status}`, detail: "without a document", status: response.status };
    throw new Problem(body);
  }
  if (!response.ok) throw new Problem({ status: response.status, ...body });
  return body;
}

export const get = (path) => ask(path);
export const post = (path, body, signal) =>
  ask(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal });
export const calibrationPath = (algorithm) => `v1/calibrations/${algorithm}`;

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
