/** What is thrown where the service does not answer. */
import type { Job } from "./job.js";
import type { components } from "./schema.js";

/** The schemas of requests and answers by name: `Schemas["GaussianProblem"]`. */
export type Schemas = components["schemas"];

export const PROBLEM = "application/problem+json";

/**
 * The service answered with a problem (RFC 9457): bad input, nothing that can be certified, too busy. The problem of a
 * job that failed is the same.
 */
export class Refused extends Error {
  override readonly name = "Refused";
  constructor(readonly problem: Schemas["Problem"]) {
    super([`${problem.status} ${problem.title}: ${problem.detail}`, ...(problem.errors ?? []).map(said)].join("; "));
  }
}

/** The job has not ended within the time that was given. It goes on, and `job` can be waited for again. */
export class StillRunning extends Error {
  override readonly name = "StillRunning";
  constructor(readonly job: Job<unknown>) {
    super(`job ${job.id} is ${job.state}`);
  }
}

/** The response is none of what the service's document foresees: something else may have answered. */
export class Unexpected extends Error {
  override readonly name = "Unexpected";
  constructor(readonly response: Response) {
    super(`unexpected answer with status ${response.status}`);
  }
}

function said({ pointer, parameter, message, allowed }: Schemas["FieldError"]): string {
  return `${pointer ?? parameter}: ${message}${allowed === undefined ? "" : ` (allowed: ${allowed})`}`;
}

/** Whether a response is a problem. */
export const isProblem = (response: Response): boolean =>
  response.headers.get("content-type")?.startsWith(PROBLEM) ?? false;
