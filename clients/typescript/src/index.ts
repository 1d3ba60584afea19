/** A typed client of the epsilond service. Paths, requests and answers are those of its OpenAPI document. */
import createClient, { type Client, type ClientOptions } from "openapi-fetch";

import { Connection, type Fetch, keyed } from "./connection.js";
import { accepted, Job, type JobStatus, type WaitOptions } from "./job.js";
import { Refused, type Schemas } from "./refused.js";
import type { paths } from "./schema.js";

export { Job, type JobStatus, type Progress, type ResultOptions, type WaitOptions } from "./job.js";
export { Refused, type Schemas, StillRunning, Unexpected } from "./refused.js";
export type { components, operations, paths } from "./schema.js";

const HELD_ANYWAY = 30_000;
/** Milliseconds for which the service holds a question unless it is told otherwise. */

/** An operation without the job that may stand in for its answer: the client waits for that. */
type Waited<Operation> = Operation extends { responses: infer Responses }
  ? Omit<Operation, "responses"> & { responses: 200 extends keyof Responses ? Omit<Responses, 202> : Responses }
  : Operation;

/** The paths of the service's document, as the client answers them. */
export type WaitedPaths = {
  [Path in keyof paths]: { [Method in keyof paths[Path]]: Waited<paths[Path][Method]> };
};

interface Result<Data> {
  data?: Data;
  error?: Schemas["Problem"];
}

export interface EpsilondClient extends Client<WaitedPaths> {
  /** The same client with other options of waiting, for one call: `client.waiting({ onProgress }).POST(…)`. */
  waiting(options: WaitOptions): EpsilondClient;
  /** Ask without waiting: `client.start((asking) => asking.POST(…))` gives the job at once. */
  start<Data>(ask: (asking: Client<WaitedPaths>) => Promise<Result<Data>>): Promise<Job<Data>>;
  /** A job that was started before, by its id. */
  job<Data>(id: string): Promise<Job<Data>>;
}

export interface EpsilondOptions extends Omit<ClientOptions, "baseUrl" | "headers" | "fetch">, WaitOptions {
  /** Sent as a bearer token, where the service asks for a key. */
  apiKey?: string;
  /** How requests are sent, in place of the global `fetch`. */
  fetch?: Fetch;
}

/**
 * A client of the service at `baseUrl`, such as `http://127.0.0.1:8000`.
 *
 * A question that becomes a job of the service is waited for, and answered as if it had not; a `signal` that is aborted
 * cancels the job. What the service puts off (429 and 503 with Retry-After), or a broken connection loses, is sent again
 * a few times; each POST has an idempotency key of its own, so that nothing is run twice.
 */
export function createEpsilondClient(baseUrl: string, options: EpsilondOptions = {}): EpsilondClient {
  const { apiKey, fetch = (request) => globalThis.fetch(request), timeout, onProgress, ...others } = options;
  const headers: Record<string, string> = apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` };
  const connection = new Connection(baseUrl, headers, fetch);
  const connected = (sent: Fetch): Client<WaitedPaths> =>
    createClient<WaitedPaths>({ ...others, baseUrl, headers, fetch: sent });

  const answering: Fetch = async (request) => {
    if (timeout !== undefined && timeout < HELD_ANYWAY && request.method === "POST" && !request.headers.has("Prefer")) {
      request.headers.set("Prefer", `wait=${Math.floor(timeout / 1000)}`);
    }
    const began = performance.now();
    const response = await connection.sent(keyed(request));
    const state = await accepted(response);
    if (!state) return response;
    return new Job(connection, state).response({
      signal: request.signal,
      ...(timeout === undefined ? {} : { timeout: timeout - (performance.now() - began) }),
      ...(onProgress === undefined ? {} : { onProgress }),
    });
  };

  return Object.assign(connected(answering), {
    waiting: (chosen: WaitOptions) => createEpsilondClient(baseUrl, { ...options, ...chosen }),
    async start<Data>(ask: (asking: Client<WaitedPaths>) => Promise<Result<Data>>): Promise<Job<Data>> {
      let state: JobStatus | undefined;
      const asking = connected(async (request) => {
        request.headers.set("Prefer", "respond-async");
        const response = await connection.sent(keyed(request));
        state = await accepted(response);
        return response;
      });
      const answer = answered(await ask(asking));
      return new Job<Data>(connection, state ?? { answer });
    },
    async job<Data>(id: string): Promise<Job<Data>> {
      return Job.found<Data>(connection, id);
    },
  });
}

/** What was answered; a problem is thrown as `Refused`. */
export function answered<Data>(result: Result<Data>): Data {
  if (result.error !== undefined) throw new Refused(result.error);
  return result.data as Data;
}
