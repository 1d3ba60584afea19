import type { Client, ClientOptions } from "openapi-fetch";

import type { components, paths } from "./schema.js";

export type { components, operations, paths } from "./schema.js";
export type Schemas = components["schemas"];
export type EpsilondClient = Client<paths>;

/** The service answered with a problem, or the job of a request ended with one. */
export class Refused extends Error {
  readonly problem: Schemas["Problem"];
  constructor(problem: Schemas["Problem"]);
}

export interface EpsilondOptions extends Omit<ClientOptions, "baseUrl" | "headers"> {
  /** Sent as a bearer token, where the service asks for a key. */
  apiKey?: string;
}

/** Return a client of the service at `baseUrl`, such as `http://127.0.0.1:8000`. */
export function createEpsilondClient(baseUrl: string, options?: EpsilondOptions): EpsilondClient;

/**
 * Return the answer of a request, and wait for it if the request became a job; throws `Refused` for a problem.
 * An aborted `signal` ends the wait; the job goes on.
 */
export function answerOf<Data>(
  client: EpsilondClient,
  result: { data?: Data; error?: Schemas["Problem"]; response: Response },
  options?: { signal?: AbortSignal },
): Promise<Exclude<Data, Schemas["Job"]>>;
