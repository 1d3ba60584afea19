/** A typed client of the epsilond service. Paths, requests and answers are those of its OpenAPI document. */
import createClient, { type Client, type ClientOptions } from "openapi-fetch";

import type { components, paths } from "./schema.js";

export type { components, operations, paths } from "./schema.js";

/** The schemas of requests and answers by name: `Schemas["GaussianProblem"]`. */
export type Schemas = components["schemas"];

export type EpsilondClient = Client<paths>;

export interface EpsilondOptions extends Omit<ClientOptions, "baseUrl" | "headers"> {
  /** Sent as a bearer token, where the service asks for a key. */
  apiKey?: string;
}

/** The service answered with a problem (RFC 9457): bad input, nothing that can be certified, too busy, out of time. */
export class Refused extends Error {
  override readonly name = "Refused";
  constructor(readonly problem: Schemas["Problem"]) {
    super([`${problem.status} ${problem.title}: ${problem.detail}`, ...(problem.errors ?? []).map(said)].join("; "));
  }
}

function said({ pointer, parameter, message, allowed }: Schemas["FieldError"]): string {
  return `${pointer ?? parameter}: ${message}${allowed === undefined ? "" : ` (allowed: ${allowed})`}`;
}

/** A client of the service at `baseUrl`, such as `http://127.0.0.1:8000`. */
export function createEpsilondClient(
  baseUrl: string,
  { apiKey, ...options }: EpsilondOptions = {},
): EpsilondClient {
  const headers = apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` };
  return createClient<paths>({ ...options, baseUrl, headers });
}

/** What was answered; a problem is thrown as `Refused`. */
export function answered<Data>(result: { data?: Data; error?: Schemas["Problem"] }): Data {
  if (result.error !== undefined) throw new Refused(result.error);
  return result.data as Data;
}
