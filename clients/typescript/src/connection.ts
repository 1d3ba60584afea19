/** How requests are sent: again, where the service puts them off or the network breaks. */

const RETRIES = 4;
/** How often. */
const LONGEST_PAUSE = 120_000;
/** Milliseconds; what is put off for longer is left to the caller, as the problem it is. */
const SHORTEST_PAUSE = 250;
const LONGEST_BACKOFF = 10_000;

export type Fetch = (request: Request) => Promise<Response>;

/** Milliseconds that grow with each try, up to a bound; a random part keeps clients apart. */
export const backoff = (tried: number): number =>
  Math.min(LONGEST_BACKOFF, SHORTEST_PAUSE * 2 ** tried * (1 + Math.random()));

/** Milliseconds of Retry-After; the service writes seconds, never a date. */
export function putOff(response: Response): number | undefined {
  const text = response.headers.get("retry-after") ?? "";
  return /^\d+$/.test(text) ? 1000 * Number(text) : undefined;
}

/** Milliseconds until a request is worth sending again; undefined if it is not. */
function pauseAfter(response: Response, tried: number): number | undefined {
  if (tried >= RETRIES || ![429, 503].includes(response.status)) return undefined;
  const told = putOff(response);
  if (told === undefined || told > LONGEST_PAUSE) return undefined;
  return told + Math.random() * (0.25 * told + SHORTEST_PAUSE);
}

/** Resolves after so many milliseconds; rejects with the signal's reason when that is aborted. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}

export class Connection {
  constructor(
    private readonly baseUrl: string,
    private readonly headers: Record<string, string>,
    private readonly fetch: Fetch,
  ) {}

  /** The response to a request, sent again a few times where that can help. It is the same request each time. */
  async sent(request: Request): Promise<Response> {
    for (let tried = 0; ; tried += 1) {
      let milliseconds: number | undefined;
      try {
        const response = await this.fetch(request.clone());
        milliseconds = pauseAfter(response, tried);
        if (milliseconds === undefined) return response;
        await response.body?.cancel();
      } catch (error) {
        // what fetch throws where the network fails; an abort is another error
        if (!(error instanceof TypeError) || tried >= RETRIES) throw error;
        milliseconds = backoff(tried);
      }
      await pause(milliseconds, request.signal);
    }
  }

  /** A request to a path of the service, with the key. */
  request(path: string, init: RequestInit = {}): Request {
    const headers = { ...this.headers, ...(init.headers as Record<string, string> | undefined) };
    return new Request(`${this.baseUrl.replace(/\/$/, "")}${path}`, { ...init, headers });
  }
}

/** A key of its own for a POST, so that the service runs it once however often it is sent. */
export function keyed(request: Request): Request {
  if (request.method === "POST" && !request.headers.has("Idempotency-Key")) {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    request.headers.set("Idempotency-Key", Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(""));
  }
  return request;
}
