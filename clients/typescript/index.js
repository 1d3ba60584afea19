/** A client of the epsilond service; its types are in index.d.ts and schema.d.ts. */
import createClient from "openapi-fetch";

/** Preference of each look at a job: the service may hold it for so many seconds. */
const HELD = "wait=20";

export class Refused extends Error {
  constructor(problem) {
    const faults = (problem.errors ?? []).map(({ pointer, parameter, message }) => `${pointer ?? parameter}: ${message}`);
    super([`${problem.status} ${problem.title}: ${problem.detail}`, ...faults].join("; "));
    this.name = "Refused";
    this.problem = problem;
  }
}

export function createEpsilondClient(baseUrl, { apiKey, ...options } = {}) {
  const headers = apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` };
  return createClient({ ...options, baseUrl, headers });
}

export async function answerOf(client, result, { signal } = {}) {
  const first = accepted(result);
  if (result.response.status !== 202) return first;
  let job = first;
  const path = { id: job.id };
  while (job.state === "queued" || job.state === "running") {
    job = accepted(await client.GET("/v1/jobs/{id}", { params: { path, header: { Prefer: HELD } }, signal }));
  }
  if (job.problem !== undefined) throw new Refused(job.problem);
  return accepted(await client.GET("/v1/jobs/{id}/result", { params: { path }, signal }));
}

function accepted({ data, error }) {
  if (error !== undefined) throw new Refused(error);
  return data;
}
