/** The edge's view of a request and its response, common to HTTP/1.1 and HTTP/2. */
import type { IncomingHttpHeaders } from "node:http";
import type { Readable, Writable } from "node:stream";

export interface VisitorRequest extends Readable {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Name, value, name, value; as sent. */
  readonly rawHeaders: readonly string[];
  readonly httpVersion: string;
  readonly socket: VisitorSocket;
  /** HTTP/2 only. */
  readonly stream?: RequestStream;
}

export interface VisitorSocket {
  readonly remoteAddress?: string | undefined;
  readonly localAddress?: string | undefined;
  readonly bytesWritten: number;
  /** The name sent in the TLS handshake. */
  readonly servername?: string | boolean | null;
}

interface RequestStream {
  /** Whether the request has no body. */
  readonly endAfterHeaders: boolean;
  /** Also true if the visitor has cancelled the request. */
  readonly closed: boolean;
}

/** The parts of a request that tell whether it has a body. */
export type RequestHead = Pick<VisitorRequest, "headers" | "stream">;

/**
 * Where a response comes from. `hit`: the page cache. `miss`: PHP, which made a page that could have been cached. `bypass`: PHP,
 * and the page cache was not asked.
 */
export type ResponseSource = "hit" | "miss" | "bypass";

export interface VisitorResponse extends Writable {
  readonly statusCode: number;
  readonly headersSent: boolean;
  /** Whether to abort the response if its body differs from the announced length. */
  strictContentLength: boolean;
  /** HTTP/2 only, because responses share a connection: the bytes sent for this one. */
  readonly bytesSent?: number;
  /** Set by whoever sends it. Absent: neither the page cache nor PHP. */
  source?: ResponseSource;
  /** As a list of name, value, name, value if a name may occur more than once. */
  writeHead(status: number, headers?: Readonly<Record<string, string | number>> | string[]): this;
}

/**
 * The requested host, as sent; undefined if it is missing or ambiguous. Node keeps the first of two Host headers, but a
 * proxy in front of the edge may have used the second. HTTP/2 has `:authority`, and a Host header must be equal to it
 * (RFC 9113, section 8.3.1).
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
