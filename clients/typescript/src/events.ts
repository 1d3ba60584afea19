/** Server-sent events, as the service sends those of a job. */

export interface Event {
  id: string;
  data: string;
}

/** The events of a stream, as they come; half an event at its end is none. */
export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Event> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let id = "";
  let data: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true });
      const lines = text.split(/\r\n|\n|\r(?!$)/);
      text = lines.pop() ?? "";
      for (const line of lines) {
        const [, name, content] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
        if (name === "data") data.push(content ?? "");
        else if (name === "id") id = content ?? "";
        else if (line === "" && data.length) {
          yield { id, data: data.join("\n") };
          data = [];
        }
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined); // where the stream has broken there is nothing to cancel
  }
}
