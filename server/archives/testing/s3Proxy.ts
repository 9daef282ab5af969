/** A proxy in front of the S3 server of the tests that injects faults. */
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import type { Patience } from "../s3Blobs.ts";

/** `lose`: the server processes the request, but the response is lost. */
export const s3Faults = ["refuse", "hang", "drop", "lose"] as const;
export type S3Fault = (typeof s3Faults)[number];

/** The fault for the `nth` request since the plan was set, or null. `isNew`: the same request was not sent before. */
export type S3Plan = (nth: number, isNew: boolean) => S3Fault | null;

export interface S3Proxy extends AsyncDisposable {
  readonly endpoint: string;
  /** Sets a new plan and restarts counting. */
  plan(next: S3Plan): void;
  /** Number of requests since the plan was set. */
  count(): number;
  /** Retries this many times without pauses. A hanging request times out at once. */
  patience(more: number): Patience;
}

/** `server` is the server's endpoint. */
export async function startS3Proxy(server: string): Promise<S3Proxy> {
  let plan: S3Plan = () => null;
  let received = 0;
  const known = new Set<string>();
  const tries = new Set<AbortController>();

  const listening = createServer((from, to) => void answer(from, to)).listen(0, "127.0.0.1");
  await once(listening, "listening");
  const address = listening.address();

  async function answer(from: IncomingMessage, to: ServerResponse): Promise<void> {
    const key = `${from.method} ${from.url} ${from.headers.range}`;
    const isNew = !known.has(key);
    known.add(key);
    received += 1;
    const fault = plan(received, isNew);
    // The client may abort a request.
    const body = await buffer(from).catch(() => null);
    if (body === null) return;
    if (fault === null) passOn(from, body, to, () => undefined);
    else if (fault === "refuse") to.writeHead(500).end();
    else if (fault === "drop") to.destroy();
    else if (fault === "lose") passOn(from, body, to, () => to.destroy());
    else for (const each of tries) each.abort();
  }

  /** Forwards the request and its response. `before` is called when the response arrives. */
  function passOn(from: IncomingMessage, body: Buffer, to: ServerResponse, before: () => void): void {
    const { method, headers } = from;
    const onward = request(new URL(from.url ?? "/", server), { method, headers }, (answered) => {
      before();
      if (to.destroyed) return void answered.resume();
      to.writeHead(answered.statusCode ?? 500, answered.headers);
      answered.pipe(to);
    });
    onward.on("error", () => to.destroy());
    onward.end(body);
  }

  return {
    endpoint: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
    plan: (next) => {
      plan = next;
      received = 0;
      known.clear();
    },
    count: () => received,
    patience: (more) => ({
      pauses: Array.from({ length: more }, () => 0),
      pause: async (_, signal) => signal.throwIfAborted(),
      tryTime: () => {
        const time = new AbortController();
        tries.add(time);
        time.signal.addEventListener("abort", () => tries.delete(time));
        return time.signal;
      },
    }),
    [Symbol.asyncDispose]: async () => {
      listening.closeAllConnections();
      listening.close();
      await once(listening, "close");
    },
  };
}
