/** What the edge needs of a request and its answer, whichever version of HTTP they come and go by. */
import type { IncomingHttpHeaders } from "node:http";
import type { Readable, Writable } from "node:stream";

export interface VisitorRequest extends Readable {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Name, value, name, value; each as it came. */
  readonly rawHeaders: readonly string[];
  readonly httpVersion: string;
  readonly socket: VisitorSocket;
  /** Of HTTP/2 only. */
  readonly stream?: RequestStream;
}

export interface VisitorSocket {
  readonly remoteAddress?: string | undefined;
  readonly bytesWritten: number;
  /** The name that a visitor by TLS began with. */
  readonly servername?: string | boolean | null;
}

interface RequestStream {
  /** Whether the request was over with its head. */
  readonly endAfterHeaders: boolean;
  /** Also where the visitor has taken the request back. */
  readonly closed: boolean;
}

/** What is enough to tell whether something follows the head. */
export type RequestHead = Pick<VisitorRequest, "headers" | "stream">;

export interface VisitorResponse extends Writable {
  readonly statusCode: number;
  readonly headersSent: boolean;
  /** Whether a body that is longer or shorter than its announced length breaks the answer off. */
  strictContentLength: boolean;
  /** Of HTTP/2 only: a connection has many answers at once, so each counts what it has sent. In bytes. */
  readonly bytesSent?: number;
  /** Flat (name, value, name, value) where a name comes more than once. */
  writeHead(status: number, headers?: Readonly<Record<string, string | number>> | string[]): this;
}

/**
 * The name that was asked for, as it was written; undefined if there is none, or where there are two. Node keeps
 * the first of two Host headers, and a proxy before us may have believed the second. HTTP/2 has `:authority`, beside
 * which a Host may only say the same (RFC 9113, section 8.3.1).
 */
export function hostOf({ rawHeaders }: Pick<VisitorRequest, "rawHeaders">): string | undefined {
  const [authority, ...otherAuthorities] = valuesOf(rawHeaders, ":authority");
  const [host, ...otherHosts] = valuesOf(rawHeaders, "host");
  if (otherAuthorities.length > 0 || otherHosts.length > 0) return undefined;
  if (authority !== undefined && host !== undefined && authority !== host) return undefined;
  return authority ?? host;
}

function valuesOf(rawHeaders: readonly string[], wanted: string): readonly string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === wanted);
}
