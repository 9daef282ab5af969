/** Sends one HTTPS request to an authority. Node's `fetch` has no option for trusted roots. */
import { request } from "node:https";
import { AcmeUnreachable } from "./problems.ts";

interface AcmeRequest {
  readonly url: string;
  readonly method: "GET" | "HEAD" | "POST";
  /** A signed JSON body. */
  readonly body?: string;
  /** PEM of the roots to trust; null for Node's default. */
  readonly roots: readonly string[] | null;
  readonly signal: AbortSignal;
}

export interface AcmeResponse {
  readonly status: number;
  /** The first header with this name (in lower case), or null. */
  header(name: string): string | null;
  readonly text: string;
}

const timeoutMilliseconds = 20_000;
const maxResponseBytes = 1_000_000;

/** Rejects with `AcmeUnreachable` on a timeout, a network error or a response that is too long. */
export async function send({ url, method, body, roots, signal }: AcmeRequest): Promise<AcmeResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<AcmeResponse>();
  const headers = {
    "user-agent": "Sitewright",
    ...(body !== undefined && { "content-type": "application/jose+json" }),
  };
  const anySignal = AbortSignal.any([signal, AbortSignal.timeout(timeoutMilliseconds)]);
  const sent = request(url, { method, headers, signal: anySignal, ...(roots && { ca: [...roots] }) }, (response) => {
    const chunks: Buffer[] = [];
    let length = 0;
    response.on("data", (chunk: Buffer) => {
      length += chunk.length;
      chunks.push(chunk);
      if (length > maxResponseBytes) response.destroy(new Error(`response longer than ${maxResponseBytes} bytes`));
    });
    response.on("error", reject);
    response.on("end", () => {
      const header = (name: string) => [response.headers[name]].flat()[0] ?? null;
      resolve({ status: response.statusCode ?? 0, header, text: Buffer.concat(chunks).toString("utf8") });
    });
  });
  sent.on("error", reject);
  sent.end(body);
  try {
    return await promise;
  } catch (cause) {
    signal.throwIfAborted();
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new AcmeUnreachable(`The certificate authority at ${new URL(url).host} did not answer: ${reason}.`, {
      cause,
    });
  }
}
