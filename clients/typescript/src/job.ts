/** A question that became a job of the service: to be waited for, followed, or cancelled. */
import { backoff, type Connection, pause, putOff } from "./connection.js";
import { eventsOf } from "./events.js";
import { isProblem, PROBLEM, Refused, type Schemas, StillRunning, Unexpected } from "./refused.js";

const PATH = "/v1/jobs/";
const HELD = 20;
/** Seconds for which the service is asked to hold a look at a job. */
const STREAMS = 5;
/** How many streams of events may break one after another. */

/** A job at one moment, without its request and its result; why it failed, unless an event tells of it. */
export type JobStatus = Schemas["JobSummary"] & { problem?: Schemas["Problem"] };

export type Progress = Schemas["Progress"];

export interface WaitOptions {
  /** Milliseconds until `StillRunning` is thrown; without it, the wait lasts until the job ends. */
  timeout?: number;
  /** Told each state of the job that is seen. What it throws breaks the wait off, and cancels the job. */
  onProgress?: (job: JobStatus) => void;
}

export interface ResultOptions extends WaitOptions {
  /** Aborted, it breaks the wait off and cancels the job. */
  signal?: AbortSignal;
}

const isOver = ({ state }: JobStatus): boolean => state !== "queued" && state !== "running";

/** The job that answers a question in its place; undefined where the response is the answer, as for a simulation. */
export async function accepted(response: Response): Promise<JobStatus | undefined> {
  if (response.status !== 202) return undefined;
  const state = (await response.clone().json()) as JobStatus;
  return state.links.self.startsWith(PATH) ? state : undefined;
}

/** The job that a response holds. */
async function read(response: Response): Promise<JobStatus> {
  if (isProblem(response)) throw new Refused((await response.json()) as Schemas["Problem"]);
  if (!response.ok) throw new Unexpected(response);
  return (await response.json()) as JobStatus;
}

export class Job<Answer> {
  /** What is known of it; undefined of a question that was answered at once. */
  document: JobStatus | undefined;

  constructor(
    private readonly connection: Connection,
    known: JobStatus | { answer: Answer },
  ) {
    this.document = "answer" in known ? undefined : known;
    this.answer = "answer" in known ? known.answer : undefined;
  }

  private readonly answer: Answer | undefined;

  /** The job of an id. */
  static async found<Answer>(connection: Connection, id: string): Promise<Job<Answer>> {
    return new Job<Answer>(connection, await read(await connection.sent(connection.request(`${PATH}${id}`))));
  }

  /** What it is called at /v1/jobs; undefined of a question that was answered at once, whose state is `done`. */
  get id(): string | undefined {
    return this.document?.id;
  }

  get state(): JobStatus["state"] {
    return this.document?.state ?? "done";
  }

  get progress(): Progress | undefined {
    return this.document?.progress;
  }

  /** Ask how it is now. */
  async refresh(): Promise<JobStatus | undefined> {
    if (this.document && !isOver(this.document)) await this.look();
    return this.document;
  }

  /** The answer, once it has ended; throws `Refused` with its problem, or `StillRunning` when the time is over. */
  async result(options: ResultOptions = {}): Promise<Answer> {
    if (!this.document) return this.answer as Answer;
    const response = await this.response(options);
    if (isProblem(response)) throw new Refused((await response.json()) as Schemas["Problem"]);
    if (!response.ok) throw new Unexpected(response);
    const kind = response.headers.get("content-type") ?? "";
    return (await (kind.startsWith("application/json") ? response.json() : response.text())) as Answer;
  }

  /** The response that its question would have had, had it been answered at once. */
  async response(options: ResultOptions = {}): Promise<Response> {
    try {
      await this.ended(options);
    } catch (error) {
      if (!(error instanceof StillRunning || error instanceof Refused || error instanceof Unexpected)) {
        void this.cancel().catch(() => undefined); // whoever waited has gone: there is nobody to tell
      }
      throw error;
    }
    if (this.document && this.document.state !== "done" && !this.document.problem) {
      await this.look(); // an event says that it failed, and not why
    }
    const problem = this.document?.problem;
    if (problem) {
      const headers = { "content-type": PROBLEM };
      return new Response(JSON.stringify(problem), { status: problem.status, headers });
    }
    return this.connection.sent(this.connection.request(`${this.path}/result`));
  }

  /** Stop it; one that has ended stays as it is. */
  async cancel(): Promise<void> {
    if (!this.document || isOver(this.document)) return;
    const request = this.connection.request(this.path, { method: "DELETE", keepalive: true });
    const response = await this.connection.sent(request);
    if (response.status !== 204 && response.status !== 404) this.document = await read(response);
  }

  /** Each state as it comes, until it has ended; a stream that breaks is taken up again. */
  async *events(signal?: AbortSignal): AsyncGenerator<JobStatus> {
    let last = "";
    for (let tried = 0; this.document && !isOver(this.document); tried += 1) {
      const headers = { accept: "text/event-stream", ...(last === "" ? {} : { "last-event-id": last }) };
      const init = signal === undefined ? { headers } : { headers, signal };
      const response = await this.connection.sent(this.connection.request(`${this.path}/events`, init));
      if (!response.ok || !response.body) await read(response);
      try {
        for await (const event of eventsOf(response.body as ReadableStream<Uint8Array>)) {
          last = event.id;
          tried = 0;
          this.document = JSON.parse(event.data) as JobStatus;
          yield this.document;
          if (isOver(this.document)) return;
        }
        if (tried >= STREAMS) throw new Unexpected(response);
      } catch (error) {
        if (!(error instanceof TypeError) || tried >= STREAMS) throw error;
      }
      await pause(backoff(tried), signal);
    }
  }

  private get path(): string {
    return `${PATH}${this.document?.id}`;
  }

  private async look(): Promise<void> {
    this.document = await read(await this.connection.sent(this.connection.request(this.path)));
  }

  private async ended({ timeout, onProgress, signal }: ResultOptions): Promise<void> {
    const until = timeout === undefined ? Infinity : performance.now() + timeout;
    const left = (): number => Math.max(0, until - performance.now());
    for (let looks = 0; this.document && !isOver(this.document); looks += 1) {
      onProgress?.(this.document);
      signal?.throwIfAborted();
      if (left() <= 0) throw new StillRunning(this);
      const held = Math.floor(Math.min(HELD, left() / 1000));
      const began = performance.now();
      const headers = { Prefer: `wait=${held}` };
      const init = signal === undefined ? { headers } : { headers, signal };
      const response = await this.connection.sent(this.connection.request(this.path, init));
      this.document = await read(response);
      const early = performance.now() - began < 500 * held; // the service did not hold it
      if (!isOver(this.document) && early) {
        await pause(Math.min(putOff(response) || backoff(looks), left()), signal);
      }
    }
    if (this.document) onProgress?.(this.document);
  }
}
