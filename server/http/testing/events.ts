/** Streams of events, as clients read them. */
import { onTestFinished } from "vitest";

interface ReceivedEvent {
  readonly id: string;
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read fields of any event, and fail if they are missing
  readonly data: any;
}

export interface EventReader {
  readonly status: number;
  readonly headers: Headers;
  /** The body of an error. */
  readonly text: () => Promise<string>;
  /** All events so far. */
  readonly received: readonly ReceivedEvent[];
  /** The id that the client would send when it connects again. */
  readonly lastId: () => string;
  /** Reads until an event matches, and returns it. Throws if the stream ends before. */
  until(matches: (event: ReceivedEvent) => boolean): Promise<ReceivedEvent>;
  /** Reads until `lastId` matches. */
  untilId(matches: (id: string) => boolean): Promise<void>;
  /** Reads to the end of the stream. */
  end(): Promise<void>;
  close(): void;
}

/** Opens a stream, and waits for its beginning. The test closes it when it ends. */
export async function openEvents(url: string, headers: Readonly<Record<string, string>>): Promise<EventReader> {
  const closing = new AbortController();
  onTestFinished(() => closing.abort());
  const response = await fetch(url, { headers, signal: closing.signal });
  const received: ReceivedEvent[] = [];
  let lastId = "";
  const read = response.ok && response.body !== null ? blocksOf(response.body) : null;

  /** Reads a block. Returns false at the end. */
  async function readOne(): Promise<boolean> {
    const next = await read?.next();
    if (next === undefined || next.done === true) return false;
    const lines = next.value.split("\n").map((line) => line.split(": "));
    const fields = new Map(lines.map(([name = "", ...rest]) => [name, rest.join(": ")]));
    lastId = fields.get("id") ?? lastId;
    const [type, data] = [fields.get("event"), fields.get("data")];
    if (type !== undefined && data !== undefined) received.push({ id: lastId, type, data: JSON.parse(data).data });
    return true;
  }

  if (read !== null) await readOne();
  return {
    status: response.status,
    headers: response.headers,
    text: () => response.text(),
    received,
    lastId: () => lastId,
    async until(matches) {
      for (let place = 0; ; place += 1) {
        while (received.length <= place) if (!(await readOne())) throw new Error("The stream ended before the event");
        const event = received[place];
        if (event !== undefined && matches(event)) return event;
      }
    },
    async untilId(matches) {
      while (!matches(lastId)) if (!(await readOne())) throw new Error("The stream ended before the id");
    },
    async end() {
      while (await readOne());
    },
    close: () => closing.abort(),
  };
}

/** The parts of the text between empty lines. */
async function* blocksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let text = "";
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    text += piece;
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    yield* blocks;
  }
}
