/** One https request to an authority. Node's `fetch` can't be told which roots to trust. */
import { request } from "node:https";
import { AcmeUnreachable } from "./problems.ts";

export interface AcmeRequest {
  readonly url: string;
  readonly method: "GET" | "HEAD" | "POST";
  /** A signed request. */
  readonly body?: string;
  /** PEM of the roots to trust; null: the usual ones. */
  readonly roots: readonly string[] | null;
  readonly signal: AbortSignal;
}

export interface AcmeResponse {
  readonly status: number;
  /** The first of each, by its name in lower case. */
  header(name: string): string | null;
  readonly text: string;
}

const patienceMilliseconds = 20_000;
const longestAnswer = 1_000_000;

/** Rejects with `AcmeUnreachable` if there is no answer in time, or one that is too long. */
export async function ask({ url, method, body, roots, signal }: AcmeRequest): Promise<AcmeResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<AcmeResponse>();
  const headers = {
    "user-agent": "Sitewright",
    ...(body !== undefined && { "content-type": "application/jose+json" }),
  };
  const both = AbortSignal.any([signal, AbortSignal.timeout(patienceMilliseconds)]);
  const asked = request(url, { method, headers, signal: both, ...(roots && { ca: [...roots] }) }, (response) => {
    const pieces: Buffer[] = [];
    let length = 0;
    response.on("data", (piece: Buffer) => {
      length += piece.length;
      pieces.push(piece);
      if (length > longestAnswer) response.destroy(new Error(`Its answer is longer than ${longestAnswer} bytes`));
    });
    response.on("error", reject);
    response.on("end", () => {
      const header = (name: string) => [response.headers[name]].flat()[0] ?? null;
      resolve({ status: response.statusCode ?? 0, header, text: Buffer.concat(pieces).toString("utf8") });
    });
  });
  asked.on("error", reject);
  asked.end(body);
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
